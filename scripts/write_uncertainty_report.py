"""Write the page of an uncertainty study (rule write_uncertainty_report)."""

from pathlib import Path

from kneewear.io.csv_tables import load_table
from kneewear.io.digests import read_checked
from kneewear.io.document import load_json, save_text
from kneewear.joblog import job_log
from kneewear.report.uncertainty_page import render_uncertainty_page

with job_log(snakemake.log[0], snakemake.threads):
    page = render_uncertainty_page(
        study=snakemake.params.settings,
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables},
        figures={
            path.stem: read_checked(path)
            for path in sorted(Path(snakemake.input.figures).glob("*.svg"))
        },
        provenance=load_json(snakemake.input.provenance),
    )
    save_text(page, snakemake.output.page)
