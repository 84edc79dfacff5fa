"""Record of the command that evaluates a worn insert."""

from kneewear.study.models import Command, Lazy

COMMANDS = (
    Command(
        "retrieval",
        "Measure the wear of a retrieved or tested insert from scans: volume, error, and where.",
        add_options=Lazy("models.retrieval.options:add_options"),
        run=Lazy("models.retrieval.options:run"),
    ),
)
