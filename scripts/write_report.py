"""Write the page of the study (rule write_report)."""

from pathlib import Path

from kneewear.io.activity import load_activity
from kneewear.io.csv_tables import load_table
from kneewear.io.digests import read_checked
from kneewear.io.document import load_json, save_text
from kneewear.joblog import job_log
from kneewear.report.page import render_page

with job_log(snakemake.log[0], snakemake.threads):
    activities = [load_activity(path) for path in snakemake.input.activities]
    page = render_page(
        study=snakemake.params.settings,
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {f"benchmark_{Path(path).stem}": load_table(path) for path in snakemake.input.benchmarks}
        | {
            f"calibration_{Path(path).stem}": load_table(path)
            for path in snakemake.input.calibration
        }
        | {f"signs_{Path(path).parent.name}": load_table(path) for path in snakemake.input.signs},
        figures={
            path.stem: read_checked(path)
            for folder in snakemake.input.figures
            for path in sorted(Path(folder).glob("*.svg"))
        },
        notes={one.name: one.remarks for one in activities},
        provenance=load_json(snakemake.input.provenance),
        view=load_json(snakemake.input.view),
    )
    save_text(page, snakemake.output.page)
