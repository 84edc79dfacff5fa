"""Checks of a finite-element comparison: before its first job, and before it is quoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from kneewear.base.checks import checks
from kneewear.errors import Finding, InputDataError
from kneewear.evidence.fe_comparison.settings import FeComparisonStudy
from kneewear.io.documents import load_table
from kneewear.study.inputs import Reader
from kneewear.study.study import Study


def check_files(study: FeComparisonStudy, reader: Reader) -> Iterator[Finding]:
    """Yield findings about frames that carry little load."""
    load = reader.activity(study, study.fe_comparison.activity).load
    for number, frame in enumerate(study.compared_frames()):
        share = float(load[frame % load.size] / load.max())
        where = f"key fe_comparison.frames_percent.{number}"
        finding = checks()["fe_comparison.frame_load"].judge(share, where)
        if finding is not None:
            yield finding


def check_quoted(study: Study, path: str | Path, settings: Mapping[str, Any]) -> None:
    """Refuse to quote a comparison with another implant, material, motion or load.

    Parameters
    ----------
    study : Study
        Study whose page quotes it.
    path : str or Path
        Its table.
    settings : mapping
        Its settings, from its provenance.
    """
    if Path(path).name != "fe_twin.csv":
        raise InputDataError(
            path,
            "another table of a finite-element comparison",
            "its table fe_twin.csv",
            "Name that table, or set report.fe_comparison to null.",
        )
    of_layer = "layer_error_percent"
    load_table(path, ("case", "side", "quantity", "foundation", "finite_elements", of_layer))
    own, activity = study.model_dump(mode="json"), settings["fe_comparison"]["activity"]
    of_both = [
        ("implant",),
        ("activities", activity),
        ("simulation", "analysis"),
        ("simulation", "youngs_modulus_mpa"),
        ("simulation", "poisson_ratio"),
        ("simulation", "pressure_law"),
    ]
    other = [
        ".".join(keys)
        for keys in of_both
        if reduce(_value, keys, settings) != reduce(_value, keys, own)
    ]
    if other:
        raise InputDataError(
            path,
            f"a comparison with another {' and '.join(other)}",
            "the implant, activity, analysis and material of this study",
            "Run it with these settings (name this study's file before its own), or set "
            "report.fe_comparison to null.",
        )


def _value(settings: Mapping[str, Any] | None, key: str) -> Any:
    """Value of a key; None where a mapping or the key is missing."""
    return (settings or {}).get(key)
