"""Data files a study names, checked before its first job."""

from __future__ import annotations

import os
from pathlib import Path

from kneewear.config import CsvActivity, Study
from kneewear.errors import InputDataError


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
        `insert_mesh` and `femoral_mesh` (and `underside_mesh` if there is one) to their paths;
        empty for the built-in implant.
    """
    meshes = study.implant.meshes
    if study.implant.source != "meshes" or meshes is None:
        return {}
    files = {"insert_mesh": meshes.insert, "femoral_mesh": meshes.femoral}
    if meshes.underside_mesh is not None:
        files["underside_mesh"] = meshes.underside_mesh
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


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
    settings = study.activities[activity]
    if not isinstance(settings, CsvActivity):
        return {}
    return {
        "motion": str(study.data_path(settings.motion.file, root)),
        "load": str(study.data_path(settings.load.file, root)),
    }


def check_inputs(study: Study, root: str | Path) -> None:
    """Refuse a study whose data files are missing or cannot be what the settings say.

    Parameters
    ----------
    study : Study
        Settings.
    root : str or Path
        The checkout.

    Raises
    ------
    InputDataError
        When a file is missing or not readable, a mesh has the wrong unit or is no bearing surface,
        or a table lacks a column or holds a value that is no number.
    """
    meshes = mesh_files(study, root)
    curves = {name: activity_files(study, name, root) for name in study.simulated_activities()}
    for path in (*meshes.values(), *(path for files in curves.values() for path in files.values())):
        _check_readable(path)
    # Imported late: the built-in study needs neither, and each costs about half a second.
    if meshes:
        from kneewear.geometry.implant_sources import convert_meshes  # noqa: PLC0415
        from kneewear.io.mesh import load_mesh  # noqa: PLC0415

        loaded = {name: load_mesh(path) for name, path in meshes.items()}
        convert_meshes(study.implant, loaded["insert_mesh"], loaded["femoral_mesh"])
    for name, files in curves.items():
        settings = study.activities[name]
        if isinstance(settings, CsvActivity):
            from kneewear.io.motion_csv import read_columns  # noqa: PLC0415

            read_columns(files["motion"], settings.motion.columns.model_dump())
            read_columns(files["load"], settings.load.columns.model_dump())


def _check_readable(path: str) -> None:
    if not Path(path).is_file():
        raise InputDataError(
            path,
            "no such file",
            "a data file",
            "Check the file's name and data_folder, or set $KNEEWEAR_DATA.",
        )
    if not os.access(path, os.R_OK):
        raise InputDataError(
            path, "a file without read permission", "a readable file", "Grant permission."
        )
