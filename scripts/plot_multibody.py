"""Draw the figures of a multibody study (rule plot_multibody)."""

from kneewear.io.documents import load_json, load_table, save_figures, save_json
from kneewear.joblog import job_log
from kneewear.report.multibody import draw_multibody_figures, scene_view

with job_log(snakemake.log[0], snakemake.threads):
    scene = load_json(snakemake.input.scene)
    figures = draw_multibody_figures(
        kinematics=load_table(snakemake.input.kinematics),
        forces=load_table(snakemake.input.forces),
        scene=scene,
    )
    save_figures(figures, snakemake.output.figures)
    save_json(scene_view(scene), snakemake.output.view)
