"""Join the tables of all parts of a model, and draw them (rule join_parts)."""

from pathlib import Path

import pandas as pd

from kneewear.io.documents import load_json, load_table, save_figures, save_json, save_table
from kneewear.joblog import job_log
from kneewear.report.parts import draw_parts, view_parts

with job_log(snakemake.log[0], snakemake.threads):
    folders = list(map(Path, snakemake.input.parts))
    tables = {}
    for name in snakemake.params.tables:
        files = [folder / f"{name}.csv" for folder in folders]
        parts = [load_table(file) for file in files if file.exists()]
        tables[name] = pd.concat(parts, ignore_index=True)
        save_table(tables[name], snakemake.output[name])
    records = {file.stem: load_json(file) for one in folders for file in one.glob("*.json")}
    # Empty where a part failed without which the study is complete.
    drawn = {name: table for name, table in tables.items() if len(table)}
    figures = draw_parts(snakemake.params.model, drawn, records)
    save_figures(figures, snakemake.output.figures, **snakemake.params.drawn)
    save_json(view_parts(records), snakemake.output.view)
