"""Write surfaces and elements for ParaView and CAD programs (rule export_geometry)."""

from pathlib import Path

from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.cad import save_implant_step
from kneewear.io.vtk import save_geometry_vtk
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    knee = netcdf.load(KneeModel, snakemake.input.knee)
    save_geometry_vtk(knee.implant, knee.grid, Path(snakemake.output.vtk[0]).parent)
    for path in snakemake.output.step:
        save_implant_step(knee.implant, path)
