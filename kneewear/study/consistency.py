"""Check that intermediate results were computed from the given settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any

import numpy as np
import xarray as xr
from pydantic import ValidationError

from kneewear.activity.activity import Activity
from kneewear.base.faults import refusal
from kneewear.geometry.knee import KneeModel
from kneewear.study.study import CaseStudy, Study

# Attributes of datasets of damage.
CONTACT_OF = "contact_of"
WEAR_OF = "wear_of"
DAMAGE_OF = "damage_of"
_ORIGIN = "_origin"
_GEOMETRY = ("implant", "grid", "coarse_grid", "table")
_CONTACT = (*_GEOMETRY, "insert", "patient", "simulation", "variables", "cases", "seed")
_WEAR = ("wear", "variables", "cases")


def checked_study(study: object) -> Study:
    """Return the study, once its values were validated as a whole.

    A study that comes from Python may be a copy with impossible values, or hold blocks that are.
    It remembers that it was validated, and a copy of it does not.

    Raises
    ------
    TypeError
        If it is no study.
    InputDataError
        If its values are impossible.
    """
    if not isinstance(study, Study):
        raise TypeError(f"found a {type(study).__name__}; expected a study, as of load_study")
    if study.is_checked:
        return study
    settings = study.model_dump(mode="json", warnings=False)
    try:
        type(study).model_validate(settings)
    except ValidationError as error:
        raise refusal(error, type(study), settings, "the study") from None
    return study.remember_checked()


def geometry_of(study: Study) -> str:
    """Fingerprint of the settings of a knee."""
    return _digest(study, _GEOMETRY)


def contact_of(study: CaseStudy, activities: Collection[str]) -> str:
    """Fingerprint of the settings of the cycles of some activities."""
    own = {
        name: study.activities[name].model_dump(mode="json")
        for name in activities
        if name in study.activities
    }
    if study.simulation.material_yield is None:
        return _digest(study, _CONTACT, own)
    before = study.activities_before()
    return _digest(study, _CONTACT, own | ({"before": before} if any(before.values()) else {}))


def wear_of(study: CaseStudy) -> str:
    """Fingerprint of the settings of wear and creep."""
    return _digest(study, _WEAR)


def label_knee(knee: KneeModel, study: Study) -> KneeModel:
    """The knee, which remembers its settings and the content of its elements."""
    object.__setattr__(knee, _ORIGIN, (geometry_of(study), _content(knee)))
    return knee


def check_knee(knee: object, study: Study) -> KneeModel:
    """Refuse a knee of other settings, or whose elements were changed since it was built.

    Raises
    ------
    TypeError
        If it is no knee.
    ValueError
        If it does not belong to the study; knees that were not built by `build_knee` pass.
    """
    own = require_knee(knee)
    origin = getattr(own, _ORIGIN, None)
    if origin is not None and origin[0] != geometry_of(study):
        require_same("knee", "implant, grid or table")
    return own


def require_knee(knee: object) -> KneeModel:
    """Refuse what is no knee, or a knee whose elements were changed; raises as `check_knee`."""
    if not isinstance(knee, KneeModel):
        raise TypeError(f"found a {type(knee).__name__}; expected a knee, as of build_knee")
    origin = getattr(knee, _ORIGIN, None)
    if origin is not None and origin[1] != _content(knee):
        require_same("knee", "area or place of elements since it was built")
    return knee


def require_same(what: str, other: str) -> None:
    """Raise ValueError about what belongs to other settings."""
    raise ValueError(
        f"found a {what} with another {other}; expected a {what} of this study. Compute it again."
    )


def check_frames(history: xr.Dataset, activity: Activity) -> None:
    """Refuse contact with other frames than its activity has, or with a case twice.

    Raises ValueError as `require_same`.
    """
    percent = history["percent"].values
    if percent.shape != activity.percent.shape or not np.allclose(percent, activity.percent):
        require_same("set of cycles", f"set of frames of {activity.name}")
    _refuse_repeated(history, "set of cycles")


def _refuse_repeated(dataset: xr.Dataset, what: str) -> None:
    """Refuse a dataset that holds a case twice."""
    names = dataset["case"].values.tolist()
    if len(set(names)) < len(names):
        first = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"found a {what} with case {first} twice; expected each case once.")


def check_damage(
    damage: object, contact: str, study: CaseStudy, knee: KneeModel, cases: Collection[str]
) -> xr.Dataset:
    """Damage of all cases of some cycles, with the sides and elements of their knee, in its order.

    Raises
    ------
    TypeError
        If it is no dataset.
    ValueError
        If it is of other cycles or another life, lacks a case or side, or was changed.
    """
    if not isinstance(damage, xr.Dataset):
        raise TypeError(f"found a {type(damage).__name__}; expected damage, as of accumulate_wear")
    for name, own, what in ((CONTACT_OF, contact, "contact"), (WEAR_OF, wear_of(study), "life")):
        if damage.attrs.get(name, "none (arithmetic drops it)") != own:
            require_same("damage", f"record of its {what}")
    _refuse_repeated(damage, "set of damage")
    lacking = {"case": set(cases), "side": set(knee.grid.sides)}
    for label, wanted in lacking.items():
        if wanted - set(damage[label].values.tolist()):
            require_same("damage", f"{label} than {', '.join(sorted(wanted))}")
    # By labels: a caller may have chosen another order of dimensions, sides or cases.
    order = [name for name in ("life", "case", "side", "row", "column") if name in damage.dims]
    ordered = damage.transpose(*order, ...).sel(side=list(knee.grid.sides))
    if damage.attrs.get(DAMAGE_OF) != content_of_damage(ordered):
        require_same("damage", "depth or order of elements since it was computed")
    return ordered


def content_of_damage(damage: xr.Dataset) -> str:
    """Hash of the depths of damage, in the order of its dimensions but of its cases."""
    digest = hashlib.sha256()
    by_name = damage[["wear_depth", "creep_depth", "damage_depth"]].sortby("case")
    for depth in by_name.values():
        digest.update(np.ascontiguousarray(depth.values).tobytes())
    return digest.hexdigest()[:24]


def _digest(study: Study, keys: Collection[str], further: Any = None) -> str:
    """Hash of some blocks of the settings, as they are dumped."""
    blocks = study.model_dump(mode="json", include=set(keys))
    text = json.dumps([blocks, further], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _content(knee: KneeModel) -> str:
    """Hash of the elements of a knee."""
    digest = hashlib.sha256()
    for array in (knee.grid.centre, knee.grid.area, knee.grid.valid):
        digest.update(array.tobytes())
    return digest.hexdigest()[:24]
