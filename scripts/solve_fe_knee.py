"""Step a dynamic finite-element knee through time (rule solve_fe_knee)."""

from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.io.fe_knee_files import load_meshes
from kneewear.io.fe_knee_progress import ProgressFile
from kneewear.joblog import job_log
from kneewear.settings.fe_knee import FeKneeSettings
from kneewear.studies.fe_knee.run import run_knee

with job_log(snakemake.log[0], snakemake.threads):
    given = snakemake.params
    settings = FeKneeSettings(**given.fe_knee)
    bones = load_meshes(snakemake.input.meshes)
    progress = ProgressFile(given.progress, bones, given.fe_knee, given.source)
    run = run_knee(bones, settings, progress.load(), progress.keep)
    save_table(run.history, snakemake.output.history)
    save_table(run.meshes, snakemake.output.meshes)
    netcdf.save(run.frames, snakemake.output.frames)
    progress.remove()
