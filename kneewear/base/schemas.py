"""Declared contents of the datasets that rooms exchange and files hold.

A result is an `xarray.Dataset` that agrees with one of the schemas here: CONTACT, pressures and
forces at poses; DAMAGE, depths after lives. Each variable has the attributes `units` and
`long_name`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

# Attribute that names the schema.
KIND = "kneewear_file"
# Attribute with records of what failed, which are appended where datasets are joined (JSON).
FAILURES = "failures"
# Labels that are the same in every dataset.
LABELS = {
    "component": ("x", "y", "z"),
    "window": ("insert", "femoral"),
    "strain_component": ("xx", "yy", "zz", "xy", "yz", "zx"),
}
LEADING = "..."


class SchemaError(ValueError):
    """A dataset that does not agree with its schema: what was found and expected, and where."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        self.where, self.found, self.expected = where, found, expected
        super().__init__(f"{where}: found {found}; expected {expected}")


@dataclass(frozen=True)
class DataVariable:
    """One variable of a schema.

    `dimensions` are separated by spaces, slowest first; a first "..." stands for the leading
    dimensions of the dataset, such as case and frame; one in brackets may be missing. `units` is
    "1" for pure numbers. `dtype` is "f" (float or double), "i8", "bool" or "text". A `label`
    becomes a coordinate.
    """

    dimensions: str
    units: str
    long_name: str
    dtype: str = "f"
    label: bool = False
    required: bool = True
    nan: bool = False

    def array(self, values: ArrayLike) -> np.ndarray[Any, Any]:
        """Values as an array of the type."""
        if self.dtype == "text":
            return np.asarray(values, "U")
        if self.dtype == "f":
            array = np.asarray(values)
            return array if array.dtype.kind == "f" else array.astype("f8")
        return np.asarray(values, self.dtype)


@dataclass(frozen=True)
class Schema:
    """Variables of one kind of dataset, by name."""

    name: str
    variables: Mapping[str, DataVariable]

    def dataset(
        self, values: Mapping[str, ArrayLike], leading: Sequence[str] = (), **attributes: Any
    ) -> xr.Dataset:
        """Dataset of arrays by name, with units and meanings.

        `leading` are the dimensions that "..." stands for; `attributes` are those of the dataset.
        SchemaError as of `check`, and for arrays whose number of dimensions is not that of their
        variable; ValueError for lengths that contradict each other.
        """
        data: dict[str, Any] = {}
        labels: dict[str, Any] = {}
        for name, given in values.items():
            variable = self._variable(name)
            array = variable.array(given)
            dimensions = self._dimensions(variable, leading, array.ndim)
            if array.ndim != len(dimensions):
                raise SchemaError(name, f"an array of shape {array.shape}", f"axes {dimensions}")
            meaning = {"units": variable.units, "long_name": variable.long_name}
            (labels if variable.label else data)[name] = (dimensions, array, meaning)
        used = {dimension for dimensions, *_ in data.values() for dimension in dimensions}
        # In one order, so that files of equal results are equal.
        for name in [label for label in LABELS if label in used and label in self.variables]:
            meaning = {"long_name": self.variables[name].long_name, "units": "1"}
            labels[name] = ((name,), np.array(LABELS[name]), meaning)
        return self.check(xr.Dataset(data, labels, {KIND: self.name, **attributes}))

    def check(self, dataset: xr.Dataset) -> xr.Dataset:
        """The dataset, when it agrees with the schema.

        SchemaError when it is of another kind, or a variable is missing, unknown, of another type,
        has other dimensions, or holds a value that is not finite and must be.
        """
        self.check_structure(dataset)
        for name, variable in dataset.variables.items():
            if variable.dtype.kind == "f" and not self.variables[str(name)].nan:
                finite = np.isfinite(variable.values)
                if not finite.all():
                    count = int(np.count_nonzero(~finite))
                    raise SchemaError(f"variable {name}", f"{count} values not finite", "numbers")
        return dataset

    def check_structure(self, dataset: xr.Dataset, left_out: Collection[str] = ()) -> None:
        """SchemaError as of `check`, without a look at values; some variables may be left out."""
        kind = dataset.attrs.get(KIND, "unknown")
        if kind != self.name:
            raise SchemaError("", f"a file of kind '{kind}'", f"kind '{self.name}'")
        for name, variable in self.variables.items():
            if variable.required and name not in dataset.variables and name not in left_out:
                raise SchemaError(f"variable {name}", "nothing", "an array")
        leading = None
        for key, stored in dataset.variables.items():
            name = str(key)
            variable = self._variable(name)
            dimensions = tuple(str(dim) for dim in stored.dims)
            names = variable.dimensions.split()
            if names[:1] == [LEADING]:
                prefix = dimensions[: len(dimensions) + 1 - len(names)]
                leading = prefix if leading is None else leading
            expected = self._dimensions(variable, leading or (), len(dimensions))
            if dimensions != expected:
                raise SchemaError(
                    f"variable {name}", f"dimensions {dimensions}", f"dimensions {expected}"
                )
            kinds = {"text": "UOT", "f": "f", "bool": "bi"}.get(variable.dtype, "iu")
            if stored.dtype.kind not in kinds:
                raise SchemaError(f"variable {name}", f"type {stored.dtype}", variable.dtype)

    def _variable(self, name: str) -> DataVariable:
        if name not in self.variables:
            raise SchemaError(f"variable {name}", "a variable", f"none of this name in {self.name}")
        return self.variables[name]

    def _dimensions(
        self, variable: DataVariable, leading: Sequence[str], count: int
    ) -> tuple[str, ...]:
        """Names of the dimensions of an array with so many of them."""
        names = variable.dimensions.split()
        if names[:1] == [LEADING]:
            return (*leading, *names[1:])
        if names and names[0].startswith("["):
            names = [names[0].strip("[]")][: count - len(names) + 1] + names[1:]
        return tuple(names)


def check_kind(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset, when it agrees with the schema it names; SchemaError otherwise."""
    kind = dataset.attrs.get(KIND, "unknown")
    schemas = {schema.name: schema for schema in (CONTACT, DAMAGE)}
    if kind not in schemas:
        raise SchemaError("", f"a dataset of kind '{kind}'", f"one of {', '.join(schemas)}")
    return schemas[kind].check(dataset)


def concatenate_cases(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """One dataset of the cases of several, with the failures of all.

    ValueError if the parts differ in anything that does not belong to cases.
    """
    if len(parts) == 1:
        return parts[0]
    return xr.concat(
        parts,
        "case",
        data_vars="minimal",
        coords="minimal",
        compat="equals",
        join="exact",
        combine_attrs=_join_attributes,
    )


def _join_attributes(parts: Sequence[dict[str, Any]], context: Any = None) -> dict[str, Any]:
    """Attributes that all parts share, with the failures of all."""
    joined = dict(parts[0])
    if FAILURES in joined:
        joined[FAILURES] = json.dumps([one for part in parts for one in json.loads(part[FAILURES])])
    for part in parts:
        for name in joined.keys() | part.keys():
            if name != FAILURES and str(joined.get(name)) != str(part.get(name)):
                raise ValueError(
                    f"{name} is {part.get(name)!r} in one, {joined.get(name)!r} in another"
                )
    return joined


def _optional(variables: Mapping[str, DataVariable]) -> dict[str, DataVariable]:
    return {name: replace(one, required=False) for name, one in variables.items()}


def _labels(dimension: str, rows: Mapping[str, tuple[str, str, str]]) -> dict[str, DataVariable]:
    """Optional coordinates along a dimension: unit, meaning and type of each."""
    return {
        name: DataVariable(dimension, units, meaning, dtype, label=True, required=False)
        for name, (units, meaning, dtype) in rows.items()
    }


_SIDE = DataVariable("side", "1", "side of the knee", "text", label=True)
_COMPONENT = DataVariable("component", "1", "axis of the insert's frame", "text", label=True)
_CASES = _labels(
    "case",
    {
        "case": ("1", "name of the case", "text"),
        "thickness": ("mm", "minimum insert thickness", "f"),
        "body_mass": ("kg", "body mass", "f"),
        "overrides": ("1", "values of further settings by path (JSON)", "text"),
    },
)
_FRAMES = _labels(
    "frame", {"percent": ("percent", "percent of the cycle", "f"), "time": ("s", "time", "f")}
)
_POSE = {
    "translation": DataVariable("... component", "mm", "position of the femoral component"),
    "rotation": DataVariable("... component", "rad", "body-three angles 1-2-3"),
}

# Contact at poses, which may be those of cases, of frames of cases, and of several activities.
CONTACT = Schema(
    "contact history",
    {
        **_CASES,
        **_FRAMES,
        "activity": DataVariable(
            "activity", "1", "name of the activity", "text", label=True, required=False
        ),
        "side": _SIDE,
        "component": _COMPONENT,
        **_POSE,
        "force": DataVariable("... side component", "N", "contact force on the insert"),
        "torque": DataVariable(
            "... side component", "N mm", "contact torque about the insert's origin"
        ),
        "max_pressure": DataVariable("... side", "MPa", "largest element pressure"),
        "avg_pressure": DataVariable("... side", "MPa", "mean pressure over the contact area"),
        "contact_area": DataVariable("... side", "mm2", "area in contact"),
        "max_penetration": DataVariable("... side", "mm", "largest penetration"),
        "active_elements": DataVariable("... side", "1", "number of loaded elements", "i8"),
        "centre_of_pressure": DataVariable(
            "... side component",
            "mm",
            "force-weighted mean of element centres, NaN where unloaded",
            nan=True,
        ),
        **_optional(
            {
                "pressure": DataVariable("... side row column", "MPa", "contact pressure"),
                "window": DataVariable(
                    "window", "1", "surface that ends there", "text", label=True
                ),
                "border_pressure": DataVariable(
                    "... side window", "MPa", "largest element pressure where the surface ends"
                ),
                "border_force": DataVariable(
                    "... side window", "N", "pressure times area of elements where it ends"
                ),
                "border_area": DataVariable(
                    "... side window", "mm2", "area of loaded elements where it ends"
                ),
                "slip": DataVariable(
                    "... side row column tangent",
                    "mm",
                    "tangential displacement of the femoral surface during one frame interval",
                ),
                "dent": DataVariable(
                    "[activity] case side row column",
                    "mm",
                    "permanent deflection of the surface without load",
                ),
                "plastic_strain": DataVariable(
                    "[activity] case side row column",
                    "1",
                    "largest equivalent plastic strain below the element",
                ),
                "residual_stress": DataVariable(
                    "[activity] case side row column",
                    "MPa",
                    "largest von Mises stress below the element without load",
                ),
                "yielded_stress": DataVariable(
                    "[activity] case side row column",
                    "MPa",
                    "largest von Mises stress below the element at the largest load, with "
                    "residual stress",
                ),
                "strain_component": DataVariable(
                    "strain_component",
                    "1",
                    "component of the strain tensor; shear strains are not engineering strains",
                    "text",
                    label=True,
                ),
                "committed_strain": DataVariable(
                    "case side strain_component slab block_row column",
                    "1",
                    "plastic strain that the cycle leaves to the next activity",
                ),
                "committed_equivalent": DataVariable(
                    "case side slab block_row column",
                    "1",
                    "equivalent plastic strain that the cycle leaves to the next activity",
                ),
                "committed_first_row": DataVariable(
                    "case side", "1", "row of elements at which the first block begins", "i8"
                ),
                "load": DataVariable("...", "N", "load along -y"),
                "load_line": DataVariable("...", "mm", "medial position of the load"),
                "spring_force": DataVariable("...", "N", "medial-lateral spring force"),
                "reaction_force": DataVariable(
                    "... component", "N", "drivers' force on the femoral component"
                ),
                "reaction_moment": DataVariable(
                    "... component",
                    "N mm",
                    "drivers' moment on the femoral component about its origin",
                ),
                "residual": DataVariable(
                    "...",
                    "1",
                    "largest unbalanced force along a free coordinate relative to the load",
                ),
                "inertia_force": DataVariable(
                    "... component", "N", "mass of the femoral component times its acceleration"
                ),
                "inertia_moment": DataVariable(
                    "... component",
                    "N mm",
                    "rate of angular momentum of the femoral component about its origin",
                ),
            }
        ),
    },
)

_DEPTH = "life case side row column"
# Damage after lives.
DAMAGE = Schema(
    "damage maps",
    {
        **_CASES,
        "life": DataVariable("life", "1", "name of the life", "text", label=True),
        "activity": DataVariable("activity", "1", "name of the activity", "text", label=True),
        "side": _SIDE,
        "shares": DataVariable("life activity", "1", "share of the life's cycles"),
        "wear_depth": DataVariable(_DEPTH, "mm", "depth worn away"),
        "creep_depth": DataVariable(_DEPTH, "mm", "depth crept"),
        "damage_depth": DataVariable(_DEPTH, "mm", "depth worn away and crept"),
        "max_pressure": DataVariable(_DEPTH, "MPa", "largest pressure in any activity"),
        "avg_pressure": DataVariable(
            "life case side",
            "MPa",
            "maximum over the cycle of the mean pressure over the contact area",
        ),
        "cross_shear": DataVariable(
            _DEPTH,
            "1",
            "frictional work perpendicular to its principal direction, relative to the total",
        ),
    },
)
