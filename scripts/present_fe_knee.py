"""Compare a dynamic finite-element knee with its source, and draw it (rule present_fe_knee)."""

from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_figures, save_json, save_table
from kneewear.joblog import job_log
from kneewear.replications.fe_knee.figures import draw_knee, knee_view
from kneewear.replications.fe_knee.files import load_meshes
from kneewear.replications.fe_knee.literature import compare_fe_knee
from kneewear.replications.fe_knee.run import KneeFrames, KneeRun
from kneewear.replications.fe_knee.settings import FeKneeSettings

with job_log(snakemake.log[0], snakemake.threads):
    given, output = snakemake.input, snakemake.output
    run = KneeRun(
        history=load_table(given.history),
        meshes=load_table(given.counts),
        frames=netcdf.load(KneeFrames, given.frames),
    )
    settings = FeKneeSettings(**snakemake.params.fe_knee)
    save_table(compare_fe_knee(run, load_meshes(given.meshes), settings), output.literature)
    save_figures(draw_knee(run.history, run.frames), output.figures, **snakemake.params.drawn)
    save_json(knee_view(run.frames), output.view)
