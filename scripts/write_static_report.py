"""Write the page of a static study (rule write_static_report)."""

from pathlib import Path

from kneewear.io.csv_tables import load_table
from kneewear.io.digests import read_checked
from kneewear.io.document import load_json, save_text
from kneewear.joblog import job_log
from kneewear.report.static_page import render_static_page

with job_log(snakemake.log[0], snakemake.threads):
    page = render_static_page(
        study=snakemake.params.settings,
        tables={Path(path).stem: load_table(path) for path in snakemake.input.tables},
        figures={
            path.stem: read_checked(path)
            for path in sorted(Path(snakemake.input.figures).glob("*.svg"))
        },
        provenance=load_json(snakemake.input.provenance),
    )
    save_text(page, snakemake.output.page)
