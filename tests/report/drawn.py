"""All figures of an example study."""

from kneewear.report.figures import draw_contact, draw_method, draw_results
from kneewear.report.maps import centre_case


def figures_of(study):
    """Figures by name."""
    centre = study.cycles.cases[centre_case(study.cycles.cases)].name
    histories = {name: one.only(centre) for name, one in study.histories.items()}
    return (
        draw_results(study.grid, study.maps, study.tables)
        | draw_contact(study.implant, study.grid, study.cycles, study.activities, histories)
        | draw_method(study.implant, study.grid, study.activities, study.tables)
    )
