"""Statements of the source beside what a dynamic knee has found (rule tabulate_fe_knee)."""

from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_table
from kneewear.io.fe_knee_files import load_meshes
from kneewear.joblog import job_log
from kneewear.settings.fe_knee import FeKneeSettings
from kneewear.studies.fe_knee.run import KneeFrames, KneeRun
from kneewear.studies.fe_knee.statements import knee_statements

with job_log(snakemake.log[0], snakemake.threads):
    given = snakemake.input
    run = KneeRun(
        history=load_table(given.history),
        meshes=load_table(given.counts),
        frames=netcdf.load(KneeFrames, given.frames),
    )
    settings = FeKneeSettings(**snakemake.params.fe_knee)
    save_table(
        knee_statements(run, load_meshes(given.meshes), settings), snakemake.output.statements
    )
