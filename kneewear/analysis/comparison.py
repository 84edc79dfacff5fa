"""Finished wear studies side by side: differences, what cancels in them, and ranks.

A design is one study, life and set of overrides; its cases differ in thickness and body mass only,
and designs are compared where these are equal, or nearest. Constants that two designs share, such
as the wear factor, change both: what remains uncertain of a comparison is seen in how the ratio of
the designs changes with the constant, which is often much less than either result does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from kneewear.analysis.groups import covariates_of
from kneewear.analysis.matching import (
    CELL,
    cells_by_design,
    distance,
    estimates_at,
    match_cells,
    tabulate_matches,
)
from kneewear.analysis.wear_order import order_of_designs
from kneewear.base.cases import (
    OUTPUTS,
    Case,
    centre_case,
    nearest_to_middle,
)
from kneewear.base.files import settings_leaves
from kneewear.base.findings import Reported
from kneewear.base.sides import BOTH, SIDES
from kneewear.base.variables import label_of
from kneewear.errors import KneewearError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import cases_of
from kneewear.study.centre import sample_intervals
from kneewear.study.plans import BLOCK, CASE, ROLE, VARIED
from kneewear.study.run import FAILURE, WARNINGS
from kneewear.study.settings import apply_case
from kneewear.study.study import WearStudy
from kneewear.study.wear import BORDER, column_name
from kneewear.wear.interval import within_log_sd
from kneewear.wear.leading import DAMAGE, SUMS, WEAR, LeadingDepth, leading_depth
from kneewear.wear.summary import summarize_batches

Array = NDArray[np.float64]

# Wear factors, as multiples of a study's own, under which designs are compared.
FACTORS = {"": 1.0, "_half": 0.5, "_double": 2.0}
# Ending of columns in which all designs have the wear factor of the first.
EQUAL = "_equal"
INDEX = [*CELL, "side", "quantity", "unit"]
# Results that designs are ranked by, the smallest first, and how both sides are joined.
RANKED = {
    "damage_depth": "max",
    "max_wear_depth": "max",
    "wear_volume": "sum",
    "max_pressure": "max",
    "avg_pressure": "max",
}
# Part by which values differ without being ranked apart: the model's error on default elements.
NO_DIFFERENCE = 0.01
# Of the intervals of uncertain constants, per cent.
LEVEL = 95.0
# Differences of an activity that a finding names.
_MAX_WORDS = 4
# Distance of the points at which two bearings are compared, mm.
RASTER_MM = 0.5


@dataclass(frozen=True)
class FinishedStudy:
    """Settings and results of a study of model wear.

    Parameters
    ----------
    settings : WearStudy
        What was run.
    grid : ElementGrid
        Elements of the fresh insert.
    maps, histories : sequence
        Damage, and contact histories of every activity without elements, of each batch.
    samples : DataFrame, optional
        Samples of its centre case with uncertain constants, where there are some.
    draws : DataFrame, optional
        Its centre case by draws of wear laws, where there are some.
    findings : tuple of Reported
        Findings about it, its settings and of its jobs.
    label : str
        Name that distinguishes it from others of its name; empty for its own.
    digests : mapping of str to str
        SHA-256 of the data files that were read.
    """

    settings: WearStudy
    grid: ElementGrid
    maps: Sequence[xr.Dataset]
    histories: Sequence[Sequence[xr.Dataset]]
    samples: pd.DataFrame | None = None
    draws: pd.DataFrame | None = None
    findings: tuple[Reported, ...] = ()
    label: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.label or self.settings.study

    def cases(self, factor: float = 1.0) -> pd.DataFrame:
        """Case table with a column `design`, all wear multiplied by a factor.

        Values of cases whose surface is updated are then NaN: wear changes what follows it.
        """
        batches, updated = [], set()
        for maps, histories in zip(self.maps, self.histories, strict=True):
            cases = cases_of(maps)
            if cases:
                wear = apply_case(self.settings, cases[0]).wear
                batches.append((_with_wear(maps, factor), histories, wear))
                if wear != wear.without_updates():
                    updated |= {case.name for case in cases}
        table, _ = summarize_batches(batches, self.grid)
        if factor != 1.0:
            table.loc[table["case"].isin(updated), "value"] = np.nan
        several = table["life"].nunique() > 1
        further = [name for name in covariates_of(table) if name not in CELL]
        labels = [
            design_label(
                self.name, life if several else None, dict(zip(further, values, strict=True))
            )
            for life, *values in table[["life", *further]].itertuples(index=False)
        ]
        return table.assign(design=labels)

    def depths(self, quantity: str) -> Iterator[tuple[str, tuple[float, float], Array]]:
        """Design, thickness and mass, and depths (side, row, column) of every case and life."""
        several = self.maps[0].sizes["life"] > 1
        for maps in self.maps:
            for number, case in enumerate(cases_of(maps)):
                for which, life in enumerate(maps["life"].values.tolist()):
                    name = design_label(self.name, life if several else None, case.overrides)
                    values = maps[quantity].values[which, number]
                    yield name, (case.thickness, case.body_mass), values

    def depths_near(
        self, quantity: str, cell: tuple[float, float]
    ) -> Iterator[tuple[str, tuple[float, float], Array]]:
        """Depths of the case of each design that is nearest to a thickness and mass."""
        nearest: dict[str, tuple[tuple[float, float], Array]] = {}
        for design, own, depth in self.depths(quantity):
            if design not in nearest or distance(own, cell) < distance(nearest[design][0], cell):
                nearest[design] = own, depth
        for design, (own, depth) in nearest.items():
            yield design, own, depth


def design_label(study: str, life: str | None, overrides: Mapping[str, Any]) -> str:
    """Name of a design: its study, the life if the study has several, and its overrides."""
    given = [f"{name} {label_of(value)}" for name, value in overrides.items() if pd.notna(value)]
    return ", ".join([study, *([life] if life else []), *given])


def _with_wear(maps: xr.Dataset, factor: float) -> xr.Dataset:
    """Maps with all wear multiplied by a factor, creep as it is."""
    if factor == 1.0:
        return maps
    wear = maps.wear_depth * factor
    return maps.assign(wear_depth=wear, damage_depth=wear + maps.creep_depth)


def compare_studies(studies: Sequence[FinishedStudy]) -> dict[str, pd.DataFrame]:
    """Compare the designs of finished studies with the first design of the first.

    Parameters
    ----------
    studies : sequence of FinishedStudy
        The reference first.

    Returns
    -------
    dict of str to DataFrame
        `differences`: a row for each further design, thickness, mass, side and quantity, with
        `reference_value`, `value`, `difference`, `ratio`, and the ratio with half and with double
        the wear factor of both (`ratio_half`, `ratio_double`). `ranking`: for each quantity the
        mean over the cases that all designs share, and the rank (one for values that differ by no
        more than `NO_DIFFERENCE`), also with half and double the wear factor. `constants`: what
        uncertain constants leave of the ratio of the centre cases, see `compare_samples`.
        `wear_order`: the order of the centre cases by common draws of wear laws, see
        :func:`kneewear.analysis.wear_order.order_of_designs`.
        `settings`: keys whose values differ, a column for each study. `matches`: the thicknesses
        and masses at which designs are compared; where they share none, values are of the
        nearest case or of a regression (:mod:`kneewear.analysis.matching`). `gaits`: activities of
        each study, and how they differ from the reference.

    Raises
    ------
    KneewearError
        If two studies have the same name, or there is one design only.
    """
    names = [study.name for study in studies]
    if len(set(names)) < len(names):
        raise KneewearError(f"studies {', '.join(names)}: expected different names.")
    parts = {ending: [one.cases(factor) for one in studies] for ending, factor in FACTORS.items()}
    first, *others = (study.settings.wear for study in studies)
    own = [wear.wear_factor_mm3_per_n_m for wear in (first, *others)]
    if len(set(own)) > 1 and all(wear.wear_law == first.wear_law for wear in others):
        pairs = zip(studies, own, strict=True)
        parts[EQUAL] = [study.cases(own[0] / factor) for study, factor in pairs]
    tables = {ending: pd.concat(part, ignore_index=True) for ending, part in parts.items()}
    designs = list(dict.fromkeys(map(str, tables[""]["design"])))
    if len(designs) < 2:
        raise KneewearError(
            f"studies {', '.join(names)}: found one design; expected two or more. Name further "
            "studies."
        )
    matches = match_cells(tables[""])
    tables = {ending: estimates_at(table, matches) for ending, table in tables.items()}
    return {
        "differences": _differences(tables, designs),
        "ranking": _ranking(tables, designs, _ranked(studies)),
        "constants": _constants(studies, designs),
        "wear_order": _wear_order(studies),
        "settings": _setting_differences(studies),
        "matches": tabulate_matches(matches),
        "gaits": gait_differences(studies),
    }


def _differences(tables: Mapping[str, pd.DataFrame], designs: Sequence[str]) -> pd.DataFrame:
    """Differences and ratios of every design from the first."""
    parts = []
    wide = {
        ending: table.set_index(["design", *INDEX])["value"] for ending, table in tables.items()
    }
    for design in designs[1:]:
        rows = pd.DataFrame(
            {"reference_value": wide[""].loc[designs[0]], "value": wide[""].loc[design]}
        ).dropna()
        rows["difference"] = rows["value"] - rows["reference_value"]
        for ending, values in wide.items():
            one, other = values.loc[designs[0]], values.loc[design]
            rows[f"ratio{ending}"] = (other / one.where(one != 0.0)).reindex(rows.index)
        parts.append(rows.reset_index().assign(design=design, reference=designs[0]))
    columns = ["design", "reference", *INDEX, "reference_value", "value", "difference"]
    joined = pd.concat(parts, ignore_index=True)
    return joined[[*columns, *(f"ratio{ending}" for ending in tables)]]


def shared_cells(cases: pd.DataFrame) -> list[tuple[float, float]]:
    """Thicknesses and masses of which every design has a case."""
    return sorted(set.intersection(*map(set, cells_by_design(cases).values())))


def leading_of(studies: Sequence[FinishedStudy]) -> LeadingDepth:
    """Depth by which studies are drawn and ranked: wear alone if the creep of one is too deep."""
    depths = {leading_depth(study.settings.wear.creep_law) for study in studies}
    return WEAR if WEAR in depths else DAMAGE


def _ranked(studies: Sequence[FinishedStudy]) -> dict[str, str]:
    """Quantities of `RANKED` by which studies are ranked."""
    left_out = SUMS if leading_of(studies) is WEAR else ()
    return {quantity: join for quantity, join in RANKED.items() if quantity not in left_out}


def _ranking(
    tables: Mapping[str, pd.DataFrame], designs: Sequence[str], ranked: Mapping[str, str]
) -> pd.DataFrame:
    """Mean of each ranked quantity over the shared cases, and its rank."""
    cells = shared_cells(tables[""])
    found: dict[str, pd.Series[float]] = {}
    for ending, table in tables.items():
        shared = table[pd.MultiIndex.from_frame(table[CELL]).isin(cells)]
        for quantity, join in ranked.items():
            rows = shared[(shared["quantity"] == quantity) & shared["side"].isin(SIDES)]
            joined = rows.set_index(["design", *CELL, "side"])["value"].unstack("side")
            both = joined.agg(join, axis=1, skipna=False)
            found[quantity + ending] = both.groupby("design").mean().reindex(list(designs))
    units = dict(zip(tables[""]["quantity"], tables[""]["unit"], strict=True))
    parts = [
        pd.DataFrame(
            {"quantity": quantity, "unit": units[quantity], "design": designs, "cases": len(cells)}
            | {"value": found[quantity].to_numpy()}
            | {f"rank{end}": _ranks(found[quantity + end]) for end in tables}
        ).sort_values("value")
        for quantity in ranked
    ]
    return pd.concat(parts, ignore_index=True)


def _ranks(values: pd.Series[float]) -> Array:
    """Rank of each value, equal where they are no more than `NO_DIFFERENCE` above the first of it.

    NaN unless all are known.
    """
    if values.isna().any():
        return np.full(len(values), np.nan)
    ordered = np.sort(values.to_numpy())
    firsts: list[float] = []
    for value in ordered:
        if not firsts or value > firsts[-1] * (1.0 + NO_DIFFERENCE):
            firsts.append(value)
    ranks = np.searchsorted(ordered, firsts) + 1.0
    return np.asarray(ranks[np.searchsorted(firsts, values.to_numpy(), side="right") - 1])


def compare_samples(reference: FinishedStudy, other: FinishedStudy) -> pd.DataFrame:
    """Interval of the ratio of two centre cases when constants that both share change alike.

    Columns reference and design (those whose constants were sampled), side (`both` among them),
    quantity; the interval of either value over its own constants (`reference_lower`,
    `reference_upper`, `lower`, `upper`), `ratio` with nothing changed, the interval of the ratio
    (`ratio_lower`, `ratio_upper`), its `percentiles` and the number of its `samples`; the names of
    the constants that both `shared` and that only one of them has or that are its `own`; `reason`
    why there is none, in a single row without values.

    Notes
    -----
    Sample n of both studies has equal numbers of what they share
    (:func:`kneewear.study.plans.stratify_samples`), so the ratio is taken sample by
    sample; percentiles as of `sample_intervals`.
    """
    names = {"reference": sampled_design(reference), "design": sampled_design(other)}
    reason = _incomparable(reference, other)
    if reason:
        return pd.DataFrame([{**names, "reason": reason}])
    one, two = (study.samples.set_index(CASE) for study in (reference, other))  # type: ignore[union-attr]
    varied = [_constants_of(table) for table in (one, two)]
    shared = [
        name
        for name in varied[0]
        if name in varied[1] and one[name].rank().equals(two[name].rank())
    ]
    own = [name for name in dict.fromkeys([*varied[0], *varied[1]]) if name not in shared]
    quotients = (two[_outputs()] / one[_outputs()]).assign(**{ROLE: one[ROLE]})
    ratios = sample_intervals(quotients, LEVEL)
    found = ratios.drop(columns=["unit", "failed", "median"]).rename(
        columns={"nominal": "ratio", "lower": "ratio_lower", "upper": "ratio_upper"}
    )
    for prefix, table in (("reference_", one), ("", two)):
        ends = sample_intervals(table, LEVEL)
        found[f"{prefix}lower"], found[f"{prefix}upper"] = ends["lower"], ends["upper"]
    return found.assign(**names, shared=", ".join(shared), own=", ".join(own), reason="")


def _constants(studies: Sequence[FinishedStudy], designs: Sequence[str]) -> pd.DataFrame:
    """Rows of `compare_samples` for each further study, and why other designs have none."""
    found = [compare_samples(studies[0], one) for one in studies[1:]]
    sampled = [sampled_design(study) for study in studies]
    reason = "only the centre case of a study, in its first life, has samples"
    rows = [
        {"reference": sampled[0], "design": design, "reason": reason}
        for design in designs
        if design not in sampled
    ]
    return pd.concat([*found, *([pd.DataFrame(rows)] if rows else [])], ignore_index=True)


def _wear_order(studies: Sequence[FinishedStudy]) -> pd.DataFrame:
    """Rows of `order_of_designs` for each further study whose first life is drawn by laws."""
    reference, *others = studies
    parts = [
        order_of_designs(
            _first_life(reference.draws), _first_life(other.draws), within_log_sd()
        ).assign(reference=sampled_design(reference), design=sampled_design(other))
        for other in others
        if reference.draws is not None and other.draws is not None
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["design"])


def _first_life(draws: pd.DataFrame) -> pd.DataFrame:
    """Draws of the first life, under one name: studies may name theirs differently."""
    return draws[draws["life"] == draws["life"].iloc[0]].assign(life="")


def sampled_design(study: FinishedStudy) -> str:
    """Name of the design whose constants a study samples: its centre case in its first life."""
    lives = study.maps[0]["life"].values.tolist()
    return design_label(study.name, lives[0] if lives[1:] else None, _centre(study).overrides)


def _centre(study: FinishedStudy) -> Case:
    first = study.settings.variants()[0]
    return first[centre_case(first)]


def _incomparable(reference: FinishedStudy, other: FinishedStudy) -> str:
    """Why the samples of two studies cannot be compared; empty where they can."""
    cells = []
    for study in (reference, other):
        if study.samples is None:
            return f"{study.name} has no samples of its constants"
        case = _centre(study)
        wear = apply_case(study.settings, case).wear
        if wear != wear.without_updates():
            return f"samples of {study.name} are of a fresh surface, its results are not"
        cells.append((case.thickness, case.body_mass))
    if cells[0] != cells[1]:
        return "the centre cases differ in thickness or body mass"
    counts = [len(study.samples) for study in (reference, other) if study.samples is not None]
    seeds = {reference.settings.seed, other.settings.seed}
    return "" if len({*counts}) == len(seeds) == 1 else "numbers of samples or seeds differ"


def _outputs() -> list[str]:
    return [column_name(side, quantity) for side in (BOTH, *SIDES) for quantity in OUTPUTS]


def _constants_of(samples: pd.DataFrame) -> list[str]:
    """Columns of random numbers in a table of samples."""
    known = {CASE, BLOCK, ROLE, VARIED, *_outputs(), BORDER, WARNINGS, FAILURE}
    return [name for name in map(str, samples) if name not in known]


def _setting_differences(studies: Sequence[FinishedStudy]) -> pd.DataFrame:
    """Settings that differ, apart from the names and what the report shows."""
    left_out = ("study", "report", "checks", "data_folder", "cases_per_job", "variables")
    leaves = {}
    for study in studies:
        settings = study.settings.model_dump(mode="json")
        compared = {key: value for key, value in settings.items() if key not in left_out}
        variables = {
            f"variables.{name}": ", ".join(map(label_of, variable.level_values))
            for name, variable in study.settings.variables.items()
        }
        leaves[study.name] = {
            _without_study(key, study): value for key, value in settings_leaves(compared).items()
        } | variables
    table = pd.DataFrame(leaves).fillna("-").rename_axis("setting")
    return table[table.nunique(axis=1) > 1].reset_index()


def _without_study(key: str, study: FinishedStudy) -> str:
    """Path of keys in which no activity or life is named after its study, as new studies do."""
    return key.replace(f".{study.settings.study}_", ".")


def gait_differences(studies: Sequence[FinishedStudy]) -> pd.DataFrame:
    """Activities of each study, and the settings and files that the reference has otherwise.

    Columns study, activity, motion (file or source), `travel_share` and `rotation_share` (factors
    of the motion of the file), boundary_conditions, and `differs`, the difference in words, empty
    for the reference and for equal activities. Names of files do not count, their content does.
    """
    rows = []
    reference: list[dict[str, str]] = []
    for study in studies:
        blocks = {
            name: one.model_dump(mode="json")
            for name, one in study.settings.simulated_activities().items()
        }
        leaves = [_with_digests(settings_leaves(block), study) for block in blocks.values()]
        reference = reference or leaves
        for number, (name, block) in enumerate(blocks.items()):
            other = reference[number] if number < len(reference) else {}
            motion = block.get("motion") or {}
            scale = motion.get("scale") or {}
            rows.append(
                {
                    "study": study.name,
                    "activity": _without_study(f".{name}", study).removeprefix("."),
                    "motion": str(motion.get("file", block["source"])),
                    "travel_share": scale.get("anterior_posterior", 1.0),
                    "rotation_share": scale.get("rotation", 1.0),
                    "boundary_conditions": str(block.get("boundary_conditions", "prescribed")),
                    "differs": _difference(other, leaves[number]),
                }
            )
    return pd.DataFrame(rows)


def _with_digests(leaves: Mapping[str, str], study: FinishedStudy) -> dict[str, str]:
    """Settings of an activity with the digests of files instead of their names."""
    digests = {f"/{path}": digest for path, digest in study.digests.items()}
    content = {}
    for key, value in leaves.items():
        known = (digest for path, digest in digests.items() if path.endswith(f"/{value}"))
        content[key] = next(known, value) if key.endswith("file") else value
    return content


def _difference(reference: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Keys of an activity with other values than in the reference, in words."""
    keys = [key for key in {**reference, **own} if reference.get(key) != own.get(key)]
    words = [
        f"{key} of other content"
        if key.endswith("file")
        else f"{key} {own.get(key, 'none')} instead of {reference.get(key, 'none')}"
        for key in keys
    ]
    further = f" and {len(words) - _MAX_WORDS} more" if len(words) > _MAX_WORDS else ""
    return ", ".join(words[:_MAX_WORDS]) + further


def depth_maps(
    studies: Sequence[FinishedStudy], cell: tuple[float, float], quantity: str = ""
) -> pd.DataFrame:
    """Depths of all designs at the points of a common raster, of the leading map if none is named.

    Columns x_mm (posterior), z_mm (medial), then one per design, mm; NaN beyond its elements. One
    row per point that any design has; `cell` is the thickness and body mass, or the nearest one of
    a design.
    """
    x, z = common_raster([study.grid for study in studies])
    columns = {"x_mm": np.repeat(x, len(z)), "z_mm": np.tile(z, len(x))}
    for study in studies:
        for design, _, depth in study.depths_near(quantity or leading_of(studies).map, cell):
            columns[design] = on_raster(study.grid, depth, x, z).ravel()
    table = pd.DataFrame(columns)
    return table.dropna(how="all", subset=table.columns[2:]).reset_index(drop=True)


def middle_cell(cells: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Thickness and mass nearest to the medians of some."""
    return cells[nearest_to_middle(cells)]


def on_raster(grid: ElementGrid, values: Array, x: Array, z: Array) -> Array:
    """Values of the elements at points of the plan, shape (x, z); NaN beyond the elements.

    Interpolated linearly between element centres, so that bearings of different shape can be
    subtracted from each other. `values` have the axes side, row, column.
    """
    found = np.full((len(x), len(z)), np.nan)
    points = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1)
    for side in range(len(grid.sides)):
        valid = grid.valid[side]
        centres = grid.centre[side][valid][:, [0, 2]]
        at = scipy.interpolate.LinearNDInterpolator(centres, values[side][valid])(points)
        found = np.where(np.isfinite(at), at, found)
    return found


def common_raster(grids: Sequence[ElementGrid]) -> tuple[Array, Array]:
    """Coordinates x and z, mm, of a raster that covers all elements of some grids."""
    centres = np.concatenate([grid.centre[grid.valid] for grid in grids])
    low, high = centres.min(axis=0), centres.max(axis=0)
    x, z = (np.arange(low[axis], high[axis] + RASTER_MM, RASTER_MM) for axis in (0, 2))
    return x, z
