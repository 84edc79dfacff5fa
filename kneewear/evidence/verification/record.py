"""Record of verification studies."""

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="verification",
    settings=Lazy("evidence.verification.settings:VerificationStudy"),
    list_jobs=Lazy("evidence.verification.jobs:list_jobs"),
    compute_job=Lazy("evidence.verification.jobs:compute_job"),
    draw=Lazy("evidence.verification.figures:draw_jobs"),
)
