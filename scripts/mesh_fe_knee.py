"""Mesh the bones of a dynamic finite-element knee (rule mesh_fe_knee)."""

from kneewear.io.fe_knee_files import load_bones, save_meshes
from kneewear.joblog import job_log
from kneewear.settings.fe_knee import BonesSettings
from kneewear.studies.fe_knee.bones import build_bones

with job_log(snakemake.log[0], snakemake.threads):
    settings = BonesSettings(**snakemake.params.bones)
    natural = load_bones(settings, snakemake.params.files, snakemake.params.knee)
    save_meshes(build_bones(settings, natural), snakemake.output.meshes)
