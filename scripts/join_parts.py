"""Join the tables of all parts of a model, and draw them (rule join_parts)."""

from pathlib import Path

import pandas as pd

from kneewear.io.documents import load_json, load_table, save_figures, save_json, save_table
from kneewear.io.result_files import copy_result
from kneewear.report.parts import draw_parts, view_parts
from kneewear.runs.joblog import job_log

with job_log(snakemake.log[0]):
    folders, model = list(map(Path, snakemake.input.parts)), snakemake.params.model
    tables = {}
    for name in snakemake.params.tables:
        files = [folder / f"{name}.csv" for folder in folders]
        parts = [load_table(file) for file in files if file.exists()]
        tables[name] = pd.concat(parts, ignore_index=True)
        save_table(tables[name], snakemake.output[name])
    files = {file.name: file for folder in folders for file in folder.iterdir()}
    records = {file.stem: load_json(file) for file in files.values() if file.suffix == ".json"}
    # Empty where a part failed without which the study is complete.
    drawn = {name: table for name, table in tables.items() if len(table)}
    figures = draw_parts(model, drawn, records, files)
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
    save_json(view_parts(model, records, files), snakemake.output.view)
    for path in snakemake.output.files:
        copy_result(files[Path(path).name], path)
