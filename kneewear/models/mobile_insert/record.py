"""Record of wear of both faces of an insert."""

from operator import attrgetter

from kneewear.study.models import Lazy, Model, SetUp

MODEL = Model(
    name="backside",
    settings=Lazy("models.mobile_insert.settings:BacksideStudy"),
    compute=Lazy("models.mobile_insert.compute:compute_faces"),
    tabulate=attrgetter("values"),
    outputs=Lazy("models.mobile_insert.compute:list_outputs"),
    further=Lazy("study.datasets:no_further_columns"),
    collect=Lazy("study.datasets:collect_datasets"),
    join=Lazy("study.datasets:load_joined"),
    side_jobs=Lazy("study.side_jobs:wear_side_jobs"),
    surfaces=Lazy("models.mobile_insert.compute:face_surfaces"),
    draw_cases=Lazy("models.mobile_insert.figures:draw_cases"),
    try_cases=Lazy("models.mobile_insert.compute:try_cases"),
    set_up=SetUp(
        option="mobile",
        text="the insert moves on its tray, as friction of both faces decides",
        write=Lazy("models.mobile_insert.set_up:add_backside"),
        follows_motion=True,
        holds_condyle_if="the insert moves on its tray",
    ),
    compile=Lazy("models.mobile_insert.insert_motion:compile_sliding"),
)
