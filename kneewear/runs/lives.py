"""Jobs of wear studies: contact, wear and creep over a life of every case, with maps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from kneewear.base.cases import centre_case
from kneewear.report.declared import figure_modules
from kneewear.runs.workflow import Chain, JobStep, block_settings
from kneewear.study.files import (
    comparison_table,
    measured_activities,
    uncertain_constants,
)
from kneewear.study.settings import apply_case, overridden_activities

RESULT_TABLES = {
    "Results": ("cases", "validity", "failures", "wear_over_cycles"),
    "Regression": ("regression", "regression_models", "regression_points", "correlation"),
}
COMPARED_TABLES = (
    "comparison",
    "regression_comparison",
    "correlation_comparison",
    "statements",
    "prediction",
)


class LivesChain(Chain):
    """Contact, wear and creep over a life of every case, with maps."""

    figures = "figures/{group}"
    has_lives = True

    def __init__(self, study: Any, root: str) -> None:
        super().__init__(study, root)
        batches = study.batches()
        self.batches = {name: list(map(asdict, cases)) for name, cases in batches.items()}
        # Settings of the cases of each batch, which differ in thickness and mass only.
        self.own = {
            name: apply_case(study, cases[0]) if cases[0].overrides else study
            for name, cases in batches.items()
        }
        self.own_activities = {
            name: overridden_activities(study, cases[0]) for name, cases in batches.items()
        }
        # The case in the middle of the design is shown in detail, with the first of all overrides.
        first = study.variants()[0]
        self.centre = asdict(first[centre_case(first)])
        self.centre_batch = next(name for name, one in self.batches.items() if self.centre in one)
        # Drawn beside built-in activities.
        self.measured = measured_activities(study, root)
        self.constants = uncertain_constants(study, root)
        self.mapped = study.cases_with_maps()
        self.with_maps = [
            name
            for name, cases in self.batches.items()
            if not {case["name"] for case in cases}.isdisjoint(self.mapped)
        ]
        # What `make benchmark` wrote last, if it was run.
        self.benchmarks = sorted(map(str, Path("results/benchmarks").glob("*.csv")))
        # What fewer constants of the built-in implant and gait would cost.
        built_in = study.report.compare_with_published and study.implant.source == "parametric"
        trade_off = os.path.relpath(f"{root}/config/evidence/calibration/trade_off.csv")
        self.calibration = [trade_off] if built_in else []

    def histories(self, batches: Sequence[str]) -> list[str]:
        """Contact of some batches, all activities of one after the other."""
        return [
            f"{self.results}/simulation/{activity}/{batch}.nc"
            for batch in batches
            for activity in self.activities
        ]

    def before(self, activity: str, batch: str) -> list[str]:
        """Contact of the activity whose insert an activity continues on; none on a new insert."""
        earlier = self.own[batch].activities_before()[activity]
        return [] if earlier is None else [f"{self.results}/simulation/{earlier}/{batch}.nc"]

    def damage(self, batches: Sequence[str]) -> list[str]:
        """Damage of some batches."""
        return [f"{self.results}/wear/{batch}.nc" for batch in batches]

    @property
    def wear(self) -> list[dict[str, Any]]:
        """Settings of wear of each batch."""
        return [block_settings(study.wear) for study in self.own.values()]

    @cached_property
    def evaluated(self) -> Mapping[str, JobStep]:
        """The centre case by other choices of the model, and with uncertain constants."""
        own, activities = self.own[self.centre_batch], self.own_activities[self.centre_batch]
        spread, coupled = self.study.report.spread, own.simulation.contact != "foundation"
        settings = {
            "case": self.centre["name"],
            "wear": block_settings(own.wear),
            # Equilibria: a surface that follows its wear is simulated again for every block.
            "simulation": block_settings(own.simulation) | {"analysis": "quasi_static"},
            "activities": activities,
            # On a coupled layer few blocks are refused.
            "spread": {
                "blocks": 1 if coupled else spread.blocks,
                "factors": spread.wear_factors_mm3_per_n_m,
            },
        }
        stored = self.of_knee | {"histories": self.histories([self.centre_batch])}
        jobs = {
            "spread": JobStep(
                "study.spread:evaluate_spread",
                settings,
                stored,
                tables=("model_spread", "wear_intervals", "wear_draws"),
                optional=True,
                memory=self.sizes.batch_mb,
            )
        }
        if self.constants:
            sampled = {
                "study": self.study.computed(),
                "case": self.centre,
                "activities": activities,
                "constants": {name: block_settings(one) for name, one in self.constants.items()},
                "samples": spread.samples,
            }
            names = "uncertain_constants", "constant_samples", "constant_intervals"
            jobs["constants"] = JobStep(
                "study.centre:evaluate_constants",
                sampled,
                self.of_knee,
                tables=names,
                optional=True,
                memory=self.sizes.sample_mb,
                minutes=self.sizes.longer(30),
            )
        return jobs

    @property
    def analysis(self) -> JobStep:
        """Tables of all cases; measured wear is read after the prediction is stored."""
        report, blind = self.study.report, f"{self.results}/blind/prediction"
        tests = {
            name: block_settings(test) | {"path": self.tests[name]}
            for name, test in report.simulator_tests.items()
        }
        limits = {
            "pressure_limit": report.pressure_limit_mpa,
            "avg_pressure_limit": report.avg_pressure_limit_mpa,
            "compare_with_published": report.compare_with_published,
        }
        settings = {
            "activities": len(self.activities),
            "wear": self.wear,
            "limits": limits,
            "tests": tests,
            "life": block_settings(self.study.wear),
        }
        inputs = {
            "knee": [self.knee],
            "damage": self.damage(list(self.batches)),
            "histories": self.histories(list(self.batches)),
            "published": self.published if report.compare_with_published else [],
            "tests": list(self.tests.values()),
            "frozen": [f"{blind}.csv", f"{blind}.json"] if self.tests else [],
            "jobs": list(map(self.folder, self.evaluated)),
        }
        return JobStep(
            "analysis.lives:analyse_lives",
            settings,
            inputs,
            list(self.tests.values()),
            memory=self.sizes.maps_mb,
            minutes=self.sizes.longer(10),
        )

    @property
    def tables(self) -> dict[str, tuple[str, ...]]:
        """Names of the tables of all cases by category."""
        tests = ("simulator_tests",) if self.tests else ()
        published = COMPARED_TABLES if self.study.report.compare_with_published else ()
        return RESULT_TABLES | {"Comparison": (*tests, *published)}

    @property
    def copied(self) -> dict[str, tuple[str, ...]]:
        """Names of the tables of the centre case."""
        return {"Results": tuple(name for one in self.evaluated.values() for name in one.tables)}

    @cached_property
    def drawn(self) -> Mapping[str, JobStep]:
        """Figures of what is given, of contact, and of the results."""
        report, own = self.study.report, self.own[self.centre_batch].simulation
        measured = [path for one in self.measured for path in one["files"].values()]
        compared = [
            benchmark
            for benchmark in self.benchmarks
            if Path(benchmark).stem in ("distance_methods", "cost")
        ]
        damage = {"damage": self.damage(self.with_maps)}
        fit = {
            "fit": [f"{self.results}/geometry/fit.nc"],
            "tables": compared,
            "calibration": self.calibration,
            "measured": measured,
        }
        given = {
            "frames": self.study.simulation.frames,
            "measured": self.measured,
            "thickness": self.centre["thickness"],
        }
        shown = {
            "case": self.centre["name"],
            "cases": self.mapped,
            "limits": [report.pressure_limit_mpa, report.avg_pressure_limit_mpa],
            # Of the coupled layer, whose pressures are in balance with stresses below them.
            "poisson_ratio": own.poisson_ratio if own.contact == "coupled_layer" else None,
            "activities": self.own_activities[self.centre_batch],
            "creep_law": self.study.wear.creep_law,
        }
        histories = {
            "histories": self.histories(self.with_maps),
            "centre": self.histories([self.centre_batch]),
        }
        tables = [*self.paths(self.tables), *self.paths(self.copied)]
        return {
            "method": JobStep(
                "report.method_group:plot_method",
                given,
                self.of_knee | fit,
                measured,
                figure_modules("method"),
            ),
            "contact": JobStep(
                "report.contact_group:plot_contact",
                shown,
                self.of_knee | histories | damage | {"fit": fit["fit"]},
                memory=self.sizes.view_mb,
            ),
            "results": JobStep(
                "report.results_group:plot_results",
                {"cases": self.mapped, "creep_law": self.study.wear.creep_law},
                {"knee": [self.knee], "tables": tables, **damage},
                loaded=figure_modules("life", "study"),
                memory=self.sizes.maps_mb,
            ),
        }

    @cached_property
    def export(self) -> JobStep:
        """A file per case and life, but for cases that failed and cases of large studies."""
        inputs = {"knee": [self.knee], "damage": self.damage(self.with_maps)}
        settings = {"case": self.centre["name"], "cases": self.mapped}
        return JobStep(super().export.name, settings, inputs, memory=self.sizes.maps_mb)

    @property
    def exported_maps(self) -> dict[str, list[str]]:
        """Folders of the maps and of the worn insert."""
        return {"vtk_maps": [f"{self.results}/wear/vtk"], "worn": [f"{self.results}/wear/worn"]}

    @property
    def reported(self) -> dict[str, Any]:
        """Input of the page but for figures and data files."""
        found = super().reported
        found["tables"] = [*found["tables"], *comparison_table(self.study, self.root)]
        return found | {"benchmarks": self.benchmarks, "calibration": self.calibration}

    @property
    def targets(self) -> list[str]:
        """Results of each case are named, so that one that was set aside or lost is computed."""
        batches = list(self.batches)
        return [*self.histories(batches), *self.damage(batches)]
