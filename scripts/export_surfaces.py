"""Write the bearing surfaces for CAD programs (rule export_surfaces)."""

from kneewear.io.cad import save_implant_step
from kneewear.io.surfaces import load_implant
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    save_implant_step(load_implant(snakemake.input.surfaces), snakemake.output.step)
