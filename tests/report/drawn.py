"""All figures of an example study."""

from kneewear.report.figures import draw_contact, draw_method, draw_results


def figures_of(study):
    """Figures by name."""
    return (
        draw_results(study.grid, study.maps, study.tables)
        | draw_contact(study.implant, study.grid, study.cycles, study.activities, {})
        | draw_method(study.implant, study.grid, study.activities, study.tables)
    )
