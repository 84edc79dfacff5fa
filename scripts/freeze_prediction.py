"""Store predicted wear and its digest before measured wear is read (rule freeze_prediction)."""

import pandas as pd

from kneewear.base.schemas import DAMAGE
from kneewear.geometry.element_grid import ElementGrid
from kneewear.io.documents import save_json, save_table
from kneewear.io.result_files import file_hash
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf
from kneewear.wear.gravimetry import predicted_rates
from kneewear.wear.settings import WearSettings

with job_log(snakemake.log[0]):
    grid = netcdf.load(ElementGrid, snakemake.input.knee, "grid")
    settings = [WearSettings(**one) for one in snakemake.params.wear]
    batches = zip(netcdf.load_all(DAMAGE, snakemake.input.damage), settings, strict=True)
    rates = pd.concat([predicted_rates(maps, grid, wear) for maps, wear in batches])
    save_table(rates, snakemake.output.prediction)
    digest = file_hash(snakemake.output.prediction)
    save_json({"file": "prediction.csv", "sha256": digest}, snakemake.output.digest)
