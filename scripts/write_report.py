"""Write the page of the study (rule write_report)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.document import load_json, save_text
from kneewear.io.sign_trials import load_trials
from kneewear.joblog import job_log
from kneewear.report.page import render_page
from kneewear.simulation.signs import doubtful_signs

with job_log(snakemake.log[0], snakemake.threads):
    activities = [load_activity(path) for path in snakemake.input.activities]
    doubts = {
        name: doubtful_signs(load_trials(path), name)
        for name, path in zip(snakemake.params.signed, snakemake.input.signs, strict=True)
    }
    page = render_page(
        study=snakemake.params.settings,
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {f"benchmark_{Path(path).stem}": load_table(path) for path in snakemake.input.benchmarks},
        figures={
            path.stem: path.read_bytes()
            for path in sorted(Path(snakemake.input.figures).glob("*.svg"))
        },
        notes={one.name: one.all_remarks(doubts.get(one.name)) for one in activities},
        provenance=load_json(snakemake.input.provenance),
    )
    save_text(page, snakemake.output.page)
