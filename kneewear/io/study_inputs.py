"""Data files a study names, checked before its first job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kneewear.errors import InputDataError
from kneewear.settings.activity import FileActivity
from kneewear.settings.base import Study


def mesh_files(study: Study, root: str | Path) -> dict[str, str]:
    """Mesh files of the implant.

    Parameters
    ----------
    study : Study
        Settings.
    root : str or Path
        The checkout.

    Returns
    -------
    dict
        `insert_mesh` and `femoral_mesh` (and `underside_mesh` if there is one; of a natural knee
        `insert_bone_mesh` and `femoral_bone_mesh`) to their paths; empty for the built-in implant.
    """
    files = _implant_files(study)
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


def _implant_files(study: Study) -> dict[str, str]:
    """Mesh files of the implant as its settings name them."""
    meshes, natural = study.implant.meshes, study.implant.natural
    if study.implant.source == "natural" and natural is not None:
        return {
            "insert_mesh": natural.tibial_cartilage,
            "femoral_mesh": natural.femoral_cartilage,
            "insert_bone_mesh": natural.tibial_bone,
            "femoral_bone_mesh": natural.femoral_bone,
        }
    if study.implant.source != "meshes" or meshes is None:
        return {}
    files = {"insert_mesh": meshes.insert, "femoral_mesh": meshes.femoral}
    if meshes.underside_mesh is not None:
        files["underside_mesh"] = meshes.underside_mesh
    return files


def activity_files(study: Study, activity: str, root: str | Path) -> dict[str, str]:
    """Curve files of an activity.

    Parameters
    ----------
    study : Study
        Settings.
    activity : str
        Name of an activity.
    root : str or Path
        The checkout.

    Returns
    -------
    dict
        `motion` and `load` to their paths; empty for a built-in activity.
    """
    settings = study.simulated_activities()[activity]
    if not isinstance(settings, FileActivity):
        return {}
    return {
        "motion": str(study.data_path(settings.motion.file, root)),
        "load": str(study.data_path(settings.load.file, root)),
    }


def check_inputs(study: Study, root: str | Path) -> tuple[str, ...]:
    """Refuse a study whose data files are missing or cannot be what the settings say.

    Parameters
    ----------
    study : Study
        Settings.
    root : str or Path
        The checkout.

    Returns
    -------
    tuple of str
        What the user should know although the study can run.

    Raises
    ------
    InputDataError
        When a file is missing or not readable, a mesh has the wrong unit or is no bearing surface,
        the insert of a case has no thickness somewhere, a table lacks a column or holds a value
        that is no number, or a motion or load (a built-in one too) is not one of a knee, or not of
        this one.
    """
    meshes = mesh_files(study, root)
    curves = {name: activity_files(study, name, root) for name in study.simulated_activities()}
    for path in (*meshes.values(), *(path for files in curves.values() for path in files.values())):
        _check_readable(path, study, root)
    _check_implant(study, meshes)
    notes = [_check_activity(study, name, files) for name, files in curves.items()]
    return (*(note for found in notes for note in found), *_fallbacks(study, root))


def _check_implant(study: Study, files: dict[str, str]) -> None:
    """Look at the meshes, and at the thickness of the thinnest case."""
    # Imported late: jobs that only name files need none of it, and it costs about a second.
    from kneewear.geometry.implant_sources import check_meshes, check_thickness  # noqa: PLC0415
    from kneewear.io.shape import load_shape  # noqa: PLC0415

    loaded = {name: load_shape(path) for name, path in files.items()}
    if loaded:
        check_meshes(study.implant, **loaded)
    parts = {name: loaded.get(name) for name in ("insert_mesh", "underside_mesh")}
    check_thickness(study.implant, study.thinnest_mm, **parts)


def _check_activity(study: Study, name: str, files: dict[str, str]) -> tuple[str, ...]:
    """Build an activity as its job will, and keep its warnings only."""
    from kneewear.activity.sources import build_activity  # noqa: PLC0415
    from kneewear.io.curves import read_curves  # noqa: PLC0415

    settings = study.simulated_activities()[name]
    tables = {
        part: read_curves(path, getattr(settings, part).columns.given())
        for part, path in files.items()
    }
    frames, knee = study.simulation.frames, study.implant.knee
    return build_activity(name, settings, frames, **tables, knee=knee).warnings


def _check_readable(path: str, study: Study, root: str | Path) -> None:
    if not Path(path).is_file():
        folder = _data_folder(study, root)
        remedy = (
            f"Check the file's name, or correct {folder}."
            if os.environ.get("KNEEWEAR_DATA")
            else f"Check the file's name and {folder}, or set $KNEEWEAR_DATA."
        )
        raise InputDataError(path, "no such file", "a data file", remedy)
    if not os.access(path, os.R_OK):
        raise InputDataError(
            path, "a file without read permission", "a readable file", "Grant permission."
        )


def _data_folder(study: Study, root: str | Path) -> str:
    """Words on the data folder in use: who names it, where it is, whether it exists."""
    folder = study.data_root(root).resolve()
    name = "$KNEEWEAR_DATA" if os.environ.get("KNEEWEAR_DATA") else "data_folder"
    return f"{name}, which points to {folder}{'' if folder.is_dir() else ' (no such folder)'}"


def _fallbacks(study: Study, root: str | Path) -> tuple[str, ...]:
    """Note on files taken from the checkout because the data folder does not exist."""
    if study.data_root(root).is_dir():
        return ()
    used = [
        path
        for path in _named_files(study)
        if study.data_path(path, root) == Path(root) / Path(path).expanduser()
        and not Path(path).expanduser().is_absolute()
    ]
    if not used:
        return ()
    return (
        f"Read from the checkout ({Path(root).resolve()}): {', '.join(used)}. "
        f"Check {_data_folder(study, root)}.",
    )


def _named_files(study: Study) -> Iterator[str]:
    """Yield the data files of a study as its settings name them."""
    yield from _implant_files(study).values()
    for settings in study.simulated_activities().values():
        if isinstance(settings, FileActivity):
            yield from (settings.motion.file, settings.load.file)
