"""Record of knees that find their own motion."""

from kneewear.study.models import Command, Lazy, Model

MODEL = Model(
    name="multibody",
    settings=Lazy("knees.settings.study:MultibodyStudy"),
    list_jobs=Lazy("knees.jobs:list_jobs"),
    compute_job=Lazy("knees.jobs:compute_job"),
    draw=Lazy("knees.figures:draw_jobs"),
    view=Lazy("knees.figures:view_jobs"),
    check_files=Lazy("knees.checks:check_files"),
)

COMMANDS = (
    Command(
        "import",
        "Compose a study of bodies, ligaments, muscles and contacts from a model of OpenSim.",
        add_options=Lazy("knees.command:add_options"),
        run=Lazy("knees.command:import_study"),
    ),
)
