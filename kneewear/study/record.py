"""Record of the wear study."""

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="wear",
    settings=Lazy("study.study:WearStudy"),
    compute=Lazy("study.wear:compute_wear"),
    tabulate=Lazy("study.wear:tabulate_wear"),
    outputs=Lazy("study.wear:wear_outputs"),
    further=Lazy("study.wear:border_columns"),
    collect=Lazy("study.element_sums:collect_sums"),
    join=Lazy("study.datasets:load_sums"),
    draw_cases=Lazy("report.analyses:draw_samples"),
    side_jobs=Lazy("study.side_jobs:wear_side_jobs"),
    surfaces=Lazy("study.wear:bearing_surfaces"),
)
