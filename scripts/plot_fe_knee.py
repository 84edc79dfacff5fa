"""Draw the figures of a dynamic finite-element knee (rule plot_fe_knee)."""

from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_figures, save_json
from kneewear.joblog import job_log
from kneewear.report.fe_knee import draw_knee, knee_view
from kneewear.studies.fe_knee.run import KneeFrames

with job_log(snakemake.log[0], snakemake.threads):
    frames = netcdf.load(KneeFrames, snakemake.input.frames)
    save_figures(draw_knee(load_table(snakemake.input.history), frames), snakemake.output.figures)
    save_json(knee_view(frames), snakemake.output.view)
