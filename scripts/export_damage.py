"""Write the damage maps for ParaView (rule export_damage)."""

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.vtk import save_damage_vtk
from kneewear.joblog import job_log
from kneewear.wear.records import DamageMaps

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    save_damage_vtk(
        maps=netcdf.load(DamageMaps, snakemake.input.damage),
        grid=knee.grid,
        folder=snakemake.output.maps,
        left=knee.implant.left,
    )
