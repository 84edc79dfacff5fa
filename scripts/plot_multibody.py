"""Draw the figures of a multibody study (rule plot_multibody)."""

from kneewear.io.documents import load_json, load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.multibody import draw_multibody_figures

with job_log(snakemake.log[0], snakemake.threads):
    figures = draw_multibody_figures(
        kinematics=load_table(snakemake.input.kinematics),
        forces=load_table(snakemake.input.forces),
        scene=load_json(snakemake.input.scene),
    )
    save_figures(figures, snakemake.output.figures)
