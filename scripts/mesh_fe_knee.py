"""Mesh the bones of a dynamic finite-element knee (rule mesh_fe_knee)."""

from kneewear.joblog import job_log
from kneewear.replications.fe_knee.bones import build_bones
from kneewear.replications.fe_knee.files import load_bones, save_meshes
from kneewear.replications.fe_knee.settings import BonesSettings

with job_log(snakemake.log[0], snakemake.threads):
    settings = BonesSettings(**snakemake.params.bones)
    natural = load_bones(settings, snakemake.params.files, snakemake.params.knee)
    save_meshes(build_bones(settings, natural), snakemake.output.meshes)
