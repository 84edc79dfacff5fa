"""File from which an interrupted run of a dynamic knee continues."""

from __future__ import annotations

import json
import logging
import time
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kneewear.io.result_files import atomic_path
from kneewear.knees.papers.fe_knee.bones import KneeBones
from kneewear.knees.papers.fe_knee.model import KneeState
from kneewear.knees.papers.fe_knee.newmark import State
from kneewear.knees.papers.fe_knee.rods import RodState
from kneewear.knees.papers.fe_knee.run import Frame, RunProgress

logger = logging.getLogger(__name__)

# Seconds between writes, so that they cost little beside the steps.
_INTERVAL = 20.0


class ProgressFile:
    """Progress of one run, written about every twenty seconds.

    Parameters
    ----------
    path : str or Path
        The file; it is left out of the outputs of a rule, so that a killed job leaves it.
    bones : KneeBones
        Meshes, and
    settings : mapping
        settings as plain builtins, and
    source : str
        fingerprint of the code: a file of others is not continued.
    """

    def __init__(
        self, path: str | Path, bones: KneeBones, settings: Mapping[str, Any], source: str
    ) -> None:
        self.path = Path(path)
        digest = sha256(json.dumps([settings, source], sort_keys=True).encode())
        for mesh in bones.meshes.values():
            for part in (mesh.nodes, mesh.tetrahedra, mesh.prisms):
                digest.update(np.ascontiguousarray(part).tobytes())
        self.key = digest.hexdigest()
        self._written = time.monotonic()

    def load(self) -> RunProgress | None:
        """Progress of an interrupted run; None where there is none, or one of another run."""
        if not self.path.is_file():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as found:
                if str(found["key"]) != self.key:
                    logger.warning("%s is of other settings or code: starting again", self.path)
                    return None
                progress = _progress({name: found[name] for name in found.files})
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            logger.warning("%s cannot be read (%s): starting again", self.path, error)
            return None
        logger.info("continuing after step %d", progress.step)
        return progress

    def keep(self, progress: RunProgress) -> None:
        """Write the progress, unless the last time was only a few seconds ago."""
        if time.monotonic() - self._written >= _INTERVAL:
            self.save(progress)

    def save(self, progress: RunProgress) -> None:
        """Write the progress, complete or not at all."""
        with atomic_path(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, **{"key": np.array(self.key), **_arrays(progress)})
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file of a run that ended."""
        for path in self.path.parent.glob(f"{self.path.name}*"):
            path.unlink()


def _arrays(progress: RunProgress) -> dict[str, Any]:
    """Arrays of a progress by name."""
    state = progress.state
    found: dict[str, Any] = {
        "step": np.array(progress.step),
        "history": np.array(json.dumps(progress.history)),
        "displacement": state.bodies.displacement,
        "velocity": state.bodies.velocity,
    }
    if state.rods is not None:
        found |= {f"rod_{one.name}": getattr(state.rods, one.name) for one in fields(RodState)}
    for name in [field.name for field in fields(Frame)]:
        found[f"frame_{name}"] = np.array([getattr(frame, name) for frame in progress.frames])
    return found


def _progress(found: Mapping[str, Any]) -> RunProgress:
    """Progress of arrays by name."""
    rods = None
    if "rod_position" in found:
        rods = RodState(*(found[f"rod_{one.name}"] for one in fields(RodState)))
    own = [found[f"frame_{field.name}"] for field in fields(Frame)]
    frames = tuple(Frame(int(step), *rest) for step, *rest in zip(*own, strict=True))
    return RunProgress(
        int(found["step"]),
        KneeState(State(found["displacement"], found["velocity"], int(found["step"])), rods),
        tuple(json.loads(str(found["history"]))),
        frames,
    )
