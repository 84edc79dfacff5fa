"""Write the page of a study of any kind (rule write_report)."""

from pathlib import Path

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.csv_tables import load_table
from kneewear.io.digests import read_checked
from kneewear.io.document import load_json, save_text
from kneewear.joblog import job_log
from kneewear.report.page import render_page

# Lists of files, of which a study kind may have none.
files = {name: snakemake.input.get(name, []) for name in ("activities", "benchmarks", "calibration",
                                                          "signs", "view")}  # fmt: skip

with job_log(snakemake.log[0], snakemake.threads):
    activities = list(netcdf.load_all(Activity, files["activities"]))
    page = render_page(
        kind=snakemake.params.kind,
        study=snakemake.params.settings,
        frames={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {f"benchmark_{Path(path).stem}": load_table(path) for path in files["benchmarks"]}
        | {f"calibration_{Path(path).stem}": load_table(path) for path in files["calibration"]}
        | {f"signs_{Path(path).parent.name}": load_table(path) for path in files["signs"]},
        figures={
            path.stem: read_checked(path)
            for folder in snakemake.input.figures
            for path in sorted(Path(folder).glob("*.svg"))
        },
        provenance=load_json(snakemake.input.provenance),
        notes={one.name: one.remarks for one in activities},
        view=next(map(load_json, files["view"]), None),
    )
    save_text(page, snakemake.output.page)
