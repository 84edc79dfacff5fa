"""Errors of fixed and adaptive elements on the study's medial bearing (rule compare_grids)."""

from kneewear.geometry.bearing import bearing_of
from kneewear.geometry.implant import Implant
from kneewear.geometry.table import tabulate_surface
from kneewear.io import netcdf
from kneewear.io.csv_tables import save_table
from kneewear.joblog import job_log
from kneewear.settings.implant import TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.simulation.layers import choose_pressure_law
from kneewear.verification.adaptive import AdaptivePair
from kneewear.verification.grid_comparison import compare_grids

with job_log(snakemake.log[0], snakemake.threads):
    table = TableSettings(**snakemake.params.table)
    law = choose_pressure_law(SimulationSettings(**snakemake.params.simulation))
    implant = netcdf.load(Implant, snakemake.input.knee, "surfaces")
    condyle = implant.femoral["medial"]
    samples = tabulate_surface(condyle, table.u_points, table.v_points)
    pair = AdaptivePair(bearing_of(implant, "medial"), condyle, samples, 2, 2)
    save_table(compare_grids(pair, law), snakemake.output.comparison)
