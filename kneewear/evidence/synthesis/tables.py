"""Tables of the posterior of wear laws from measured wear, and of its checks."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd

from kneewear.analysis.declared import analysis
from kneewear.errors import InputDataError
from kneewear.evidence.synthesis.blind_comparison import compare_blind
from kneewear.evidence.synthesis.larger import fit_larger_table
from kneewear.evidence.synthesis.law_space import LawSpace
from kneewear.evidence.synthesis.measurements import (
    Measurements,
    read_measurements,
    read_nodes,
)
from kneewear.evidence.synthesis.mixture import (
    UniformContact,
    compare_priors,
    evidences_of,
    fit_mixture,
    row_influence,
    score_models,
)
from kneewear.evidence.synthesis.posterior import draw_posterior
from kneewear.evidence.synthesis.simulated import calibrate, value_of_test
from kneewear.study.analysis_settings import PosteriorOptions
from kneewear.study.study import Study


@analysis(
    "posterior",
    tables=(
        "wear_posterior",
        "posterior_convergence",
        "posterior_scores",
        "posterior_priors",
        "posterior_influence",
        "posterior_coverage",
        "test_values",
        "blind_results",
        "blind_counts",
        "larger_posterior",
        "larger_convergence",
        "larger_scores",
        "larger_interval",
        "larger_priors",
        "larger_influence",
        "larger_coverage",
        "larger_left_out",
        "larger_inside",
        "larger_against_first",
        "larger_laboratories",
    ),
)
def analyse_posterior(
    results: pd.DataFrame, study: Study, options: PosteriorOptions
) -> dict[str, pd.DataFrame]:
    """Posterior of wear laws, constants and laboratories, and what it is worth.

    Tables `wear_posterior` (draws), `posterior_convergence` (of the sampler, with stacking
    weights), `posterior_scores` (left-out laboratories), `posterior_priors`, `posterior_influence`
    and `posterior_coverage` (intervals of the wear factor of the contact `knee` in another
    laboratory, 90 %, mm3/(N m)), `test_values` (these intervals after further tests),
    `blind_results` and `blind_counts` (predictions that were stored before results were known),
    and tables `larger_*`, of the posterior with these results
    (:func:`kneewear.evidence.synthesis.larger.fit_larger_table`).
    InputDataError without emcee, or if the study has not every test that was measured.
    """
    if find_spec("emcee") is None:
        raise InputDataError(
            "analyses.posterior",
            "no emcee to sample with",
            "the optional extra `synthesis`",
            "Install it: pip install 'kneewear[synthesis]'.",
        )
    blocks = study.variables[options.law].blocks or {}
    space, terms = read_nodes(results, options.test, options.law, blocks)
    rows = read_measurements(terms)
    contact = UniformContact(options.knee.cross_shear, options.knee.pressure_mpa)
    evidences = evidences_of(space, rows)
    mixture = fit_mixture(evidences)
    draws, convergence = draw_posterior(
        [evidence.model for evidence in evidences], mixture.weights, options.draws
    )
    values = _values_of_tests(space, rows, contact, options)
    blind_results, blind_counts = compare_blind()
    return {
        "wear_posterior": draws,
        "posterior_convergence": convergence,
        "posterior_scores": score_models(evidences),
        "posterior_priors": compare_priors(space, rows, contact),
        "posterior_influence": row_influence(evidences, contact),
        "posterior_coverage": calibrate(space, rows, contact, options.simulated),
        "test_values": values,
        "blind_results": blind_results,
        "blind_counts": blind_counts,
        **fit_larger_table(space, rows, contact, options.draws, options.simulated),
    }


def _values_of_tests(
    space: LawSpace, rows: Measurements, contact: UniformContact, options: PosteriorOptions
) -> pd.DataFrame:
    """Expected intervals of a contact after each candidate test."""
    values = [
        {
            "test": name,
            "laboratories": test.laboratories,
            "contacts": len(test.contacts),
            **value_of_test(
                space,
                rows,
                contact,
                [UniformContact(own.cross_shear, own.pressure_mpa) for own in test.contacts],
                test.laboratories,
                float(np.log1p(0.01 * test.error_percent)),
                options.outcomes,
            ),
        }
        for name, test in options.candidates.items()
    ]
    return pd.DataFrame(values, columns=None if values else ["test"])
