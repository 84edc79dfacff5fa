"""Record of tests of bearings of simple geometry."""

from operator import attrgetter

from kneewear.study.models import Lazy, Model

MODEL = Model(
    name="wear_test",
    settings=Lazy("models.bearing_test.settings:WearTestStudy"),
    compute=Lazy("models.bearing_test.compute:compute_test"),
    tabulate=attrgetter("values"),
    outputs=Lazy("models.bearing_test.compute:list_outputs"),
    further=Lazy("study.datasets:no_further_columns"),
    collect=Lazy("study.datasets:collect_datasets"),
    join=Lazy("study.datasets:load_joined"),
    side_jobs=Lazy("study.side_jobs:wear_side_jobs"),
    surfaces=Lazy("models.bearing_test.compute:polyethylene_surfaces"),
    draw_cases=Lazy("models.bearing_test.figures:draw_cases"),
    verify=Lazy("models.bearing_test.verification:verify_wear"),
    check_files=Lazy("models.bearing_test.checks:check_files"),
)
