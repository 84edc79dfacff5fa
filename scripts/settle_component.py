"""Let the component settle on the insert by numerical damping (rule settle_component)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.press import PressStudy
from kneewear.simulation.settling import settle_component

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    study = PressStudy(**snakemake.params.study)
    implant = netcdf.load(Implant, snakemake.input.knee, "implant")
    sequence, settled = settle_component(implant, study)
    save_table(sequence, snakemake.output.sequence)
    save_table(settled, snakemake.output.settled)
