"""All figures of an example study."""

from kneewear.motion.history import cases_of, only_case
from kneewear.report.figures import draw_contact, draw_method, draw_results
from kneewear.report.maps import centre_case

WEAR_FIGURES = {
    "damage_maps",
    "wear_maps",
    "trends",
    "damage_surfaces",
    "design",
    "published_scatter",
    "published_errors",
    "regression_residuals",
    "regression_models",
    "implant",
    "bearing_sections",
    "control_nets",
    "element_grid",
    "thickness_map",
    "understood_shapes",
    "understood_motion_gait",
    "activity_gait",
    "history_gait",
    "pressure_gait",
    "motion_gait",
    "forces_gait",
    "areas_gait",
}
# By the identity of a study: the studies of the fixtures live as long as the session.
_DRAWN = {}


def figures_of(study):
    """Figures by name, drawn once."""
    if id(study) not in _DRAWN:
        _DRAWN[id(study)] = study, _draw(study)
    return _DRAWN[id(study)][1]


def _draw(study):
    """Draw all figures of a study."""
    cases = cases_of(study.cycles)
    centre = cases[centre_case(cases)].name
    histories = {name: only_case(one, centre) for name, one in study.histories.items()}
    return (
        draw_results(study.grid, study.maps, study.tables)
        | draw_contact(study.implant, study.grid, study.cycles, study.activities, histories)
        | draw_method(study.implant, study.grid, study.activities, study.tables)
    )
