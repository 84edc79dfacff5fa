"""Write damage maps for ParaView, and the worn insert of a case (rule export_damage)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.vtk import save_damage_vtk
from kneewear.io.worn_insert import save_worn_insert
from kneewear.joblog import job_log
from kneewear.schemas import DAMAGE

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    own = {"grid": knee.grid, "left": knee.implant.left}
    only = {"case": snakemake.params.cases}
    maps = netcdf.load(DAMAGE, snakemake.input.damage, only=only)
    save_damage_vtk(maps, folder=snakemake.output.maps, **own)
    save_worn_insert(maps, case=snakemake.params.case, folder=snakemake.output.worn, **own)
