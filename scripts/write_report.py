"""Write the page of a study of any kind, and where its results come from (rule write_report)."""

from os.path import relpath
from pathlib import Path

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.io import netcdf
from kneewear.io.documents import load_json, load_table, save_json, save_text
from kneewear.io.result_files import read_checked
from kneewear.joblog import job_log
from kneewear.provenance import provenance_record
from kneewear.report.page import render_page

# Lists of files, of which a study kind may have none.
files = {name: snakemake.input.get(name, []) for name in ("activities", "benchmarks", "calibration",
                                                          "signs", "view")}  # fmt: skip

with job_log(snakemake.log[0], snakemake.threads):
    settings = snakemake.params.settings
    folders = {name: snakemake.params[name] for name in ("benchmarks", "logs")}
    provenance = provenance_record(settings, inputs=list(snakemake.input.data), **folders)
    save_json(provenance, snakemake.output.provenance)
    drawn = [path for one in snakemake.input.figures for path in sorted(Path(one).glob("*.svg"))]
    trials = list(map(Path, files["signs"]))
    contents = dict(
        kind=settings["kind"],
        study=settings,
        frames={Path(path).stem: load_table(path) for path in snakemake.input.tables}
        | {f"benchmark_{Path(path).stem}": load_table(path) for path in files["benchmarks"]}
        | {
            f"calibration_{Path(path).stem}": pd.read_csv(path, comment="#")
            for path in files["calibration"]
        }
        | {"_".join([path.stem, path.parent.name]): load_table(path) for path in trials},
        figures={path.stem: read_checked(path) for path in drawn},
        files={path.stem: relpath(path, Path(snakemake.output.page).parent) for path in drawn},
        provenance=provenance,
        activities={one.name: one for one in netcdf.load_all(Activity, files["activities"])},
        view=next(map(load_json, files["view"]), None),
    )
    for part in ("page", "appendix"):
        save_text(render_page(**contents, appendix=part == "appendix"), snakemake.output[part])
