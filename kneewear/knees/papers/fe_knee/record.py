"""Record of the dynamic finite-element knee."""

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="fe_knee",
    settings=Lazy("knees.papers.fe_knee.settings:FeKneeStudy"),
    list_jobs=Lazy("knees.papers.fe_knee.jobs:list_jobs"),
    compute_job=Lazy("knees.papers.fe_knee.jobs:compute_job"),
    draw=Lazy("knees.papers.fe_knee.figures:draw_jobs"),
    view=Lazy("knees.papers.fe_knee.figures:view_jobs"),
    check_files=Lazy("knees.papers.fe_knee.files:check_files"),
    run=Lazy("knees.papers.fe_knee.study:run_study"),
)
