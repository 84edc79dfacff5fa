"""A study of a dynamic finite-element knee in this process."""

from __future__ import annotations

import pandas as pd

from kneewear.knees.papers.fe_knee.bones import build_bones
from kneewear.knees.papers.fe_knee.files import Files, load_bones
from kneewear.knees.papers.fe_knee.literature import compare_fe_knee
from kneewear.knees.papers.fe_knee.run import run_knee
from kneewear.knees.papers.fe_knee.settings import FeKneeStudy


def run_study(study: FeKneeStudy, files: Files) -> dict[str, pd.DataFrame]:
    """Tables of a study: comparison with the source, history over all steps, and meshes."""
    settings = study.fe_knee
    bones = build_bones(settings.bones, load_bones(settings.bones, files, study.implant.knee))
    run = run_knee(bones, settings)
    return {
        "literature": compare_fe_knee(run, bones, settings),
        "knee_history": run.history,
        "knee_meshes": run.meshes,
    }
