"""Plain arrays of datasets, for numerical assertions."""

from __future__ import annotations

from types import SimpleNamespace

import xarray as xr

from kneewear.motion.history import case_coordinates, cases_of, failures_of, sides_of


def plain(dataset: xr.Dataset) -> SimpleNamespace:
    """Arrays and attributes of a dataset by name, its `sides`, `failures` and `cases` (of wear)."""
    arrays = {str(name): variable.values for name, variable in dataset.variables.items()}
    cases = {"cases": cases_of(dataset)} if "overrides" in arrays else {}
    further = {"sides": sides_of(dataset), "failures": failures_of(dataset)}
    return SimpleNamespace(**{**dataset.attrs, **arrays, **cases, **further})


def with_values(dataset: xr.Dataset, **changes: object) -> xr.Dataset:
    """Dataset with other arrays of the same dimensions, attributes or `cases`."""
    values = dict(changes)
    cases = values.pop("cases", None)
    if cases is not None:
        values |= case_coordinates(cases)
    attributes = {name: values.pop(name) for name in list(values) if name in dataset.attrs}
    arrays = {
        name: (dataset[name].dims, getattr(value, "values", value), dataset[name].attrs)
        for name, value in values.items()
    }
    labels = {name: arrays.pop(name) for name in list(arrays) if name in dataset.coords}
    if any(len(labels[name][1]) != dataset[name].size for name in labels):
        dataset = dataset.drop_dims({labels[name][0][0] for name in labels} - {"case"})
    return dataset.assign_coords(labels).assign(arrays).assign_attrs(attributes)
