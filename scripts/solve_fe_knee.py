"""Step a dynamic finite-element knee through time (rule solve_fe_knee)."""

from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.replications.fe_knee.files import load_meshes
from kneewear.replications.fe_knee.progress import ProgressFile
from kneewear.replications.fe_knee.run import run_knee
from kneewear.replications.fe_knee.settings import FeKneeSettings

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
