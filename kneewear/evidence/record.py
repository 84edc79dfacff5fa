"""Commands of the evidence: paper, credibility, and measurements of a user."""

from kneewear.study.models import Command, Lazy

COMMANDS = (
    Command(
        "paper",
        "Draw and list figures and tables of the source documents from finished studies.",
        add_options=Lazy("evidence.commands:add_paper_options"),
        run=Lazy("evidence.commands:draw_paper"),
    ),
    Command(
        "fit-material",
        "Fit the three-parameter material to a table of measured compression.",
        add_options=Lazy("evidence.commands:add_material_options"),
        run=Lazy("evidence.commands:fit_material"),
    ),
    Command(
        "compare-pressure",
        "Compare measured pressures, as numbers or maps of a sensor, with a finished press study.",
        add_options=Lazy("evidence.commands:add_pressure_options"),
        run=Lazy("evidence.commands:compare_pressure"),
    ),
    Command(
        "credibility",
        "Report on the credibility of a finished study: evidence, goals and gaps by factor (PDF).",
        add_options=Lazy("evidence.commands:add_credibility_options"),
        run=Lazy("evidence.commands:report_credibility"),
    ),
)
