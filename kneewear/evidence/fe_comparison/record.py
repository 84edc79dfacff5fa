"""Record of finite-element comparisons."""

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="fe_comparison",
    settings=Lazy("evidence.fe_comparison.settings:FeComparisonStudy"),
    list_jobs=Lazy("evidence.fe_comparison.jobs:list_jobs"),
    compute_job=Lazy("evidence.fe_comparison.jobs:compute_job"),
    draw=Lazy("evidence.fe_comparison.figures:draw_jobs"),
    check_quoted=Lazy("evidence.fe_comparison.checks:check_quoted"),
    check_files=Lazy("evidence.fe_comparison.checks:check_files"),
)
