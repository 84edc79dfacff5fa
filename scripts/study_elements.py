"""Solve one case on many grids (rule study_elements)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.press import PressStudy
from kneewear.study.element_study import study_active_elements, study_divisions

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    study = PressStudy(**snakemake.params.study)
    implant = netcdf.load(Implant, snakemake.input.knee, "implant")
    save_table(study_active_elements(implant, study), snakemake.output.convergence)
    save_table(study_divisions(implant, study), snakemake.output.sensitivity)
