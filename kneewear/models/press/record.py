"""Record of contact under an axial load."""

from operator import attrgetter

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="press",
    settings=Lazy("models.press.settings:PressStudy"),
    compute=Lazy("models.press.compute:compute_press"),
    tabulate=attrgetter("values"),
    outputs=Lazy("models.press.compute:press_outputs"),
    further=Lazy("models.press.compute:further_columns"),
    collect=Lazy("models.press.compute:collect_contact"),
    join=Lazy("study.datasets:load_press_cases"),
    side_jobs=Lazy("models.press.side_jobs:list_side_jobs"),
    draw_cases=Lazy("models.press.figures:draw_cases"),
)
