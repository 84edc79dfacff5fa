"""Write the bearing surfaces for CAD programs (rule export_surfaces)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.cad import save_implant_step
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    save_implant_step(netcdf.load(Implant, snakemake.input.knee, "surfaces"), snakemake.output.step)
