"""Jobs of a dynamic finite-element knee: its steps in time, and the printed numbers."""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from pathlib import Path

from kneewear.io.documents import load_table
from kneewear.io.result_files import file_hash
from kneewear.knees.papers.fe_knee.bones import KneeBones, build_bones
from kneewear.knees.papers.fe_knee.files import keep_meshes, load_bones, load_meshes, save_meshes
from kneewear.knees.papers.fe_knee.literature import compare_fe_knee
from kneewear.knees.papers.fe_knee.progress import ProgressFile
from kneewear.knees.papers.fe_knee.run import KneeFrames, KneeRun, run_knee
from kneewear.knees.papers.fe_knee.settings import FeKneeStudy
from kneewear.study import netcdf
from kneewear.study.jobs import Job, JobInputs, JobResult

KNEE = "knee"
LITERATURE = "literature"
HISTORY = "knee_history"
COUNTS = "knee_meshes"
MESHES = "meshes.npz"
FRAMES = "frames.nc"


def list_jobs(study: FeKneeStudy) -> dict[str, Job]:
    """All steps of the knee, and the numbers that its source prints."""
    return {
        KNEE: Job((HISTORY, COUNTS), 4000, 240, knee=False, kernels=False, files=(FRAMES,)),
        LITERATURE: Job((LITERATURE,), 4000, 60, knee=False, kernels=False, needs=(KNEE,)),
    }


def compute_job(study: FeKneeStudy, name: str, inputs: JobInputs) -> JobResult:
    """Steps in time, whose meshes and frames are written to the folder; or the printed numbers.

    Meshes and progress are beside the folder too: a killed job continues, and other steps have the
    same meshes.
    """
    folder, settings = inputs.the_folder, study.fe_knee
    if name == LITERATURE:
        knee = folder.parent / KNEE
        run = KneeRun(
            history=load_table(knee / f"{HISTORY}.csv"),
            meshes=load_table(knee / f"{COUNTS}.csv"),
            frames=netcdf.load(KneeFrames, knee / FRAMES),
        )
        table = compare_fe_knee(run, load_meshes(knee / MESHES), settings)
        return JobResult({LITERATURE: table})
    bones = _bones(study, inputs, folder.parent / MESHES)
    block = settings.model_dump(mode="json")
    progress = ProgressFile(folder.parent / "progress.npz", bones, block, inputs.source)
    run = run_knee(bones, settings, progress.load(), progress.keep)
    save_meshes(bones, folder / MESHES)
    netcdf.save(run.frames, folder / FRAMES)
    progress.remove()
    return JobResult({HISTORY: run.history, COUNTS: run.meshes})


def _bones(study: FeKneeStudy, inputs: JobInputs, path: Path) -> KneeBones:
    """Bones, meshed again only for other settings, data or code."""
    settings, knee = study.fe_knee.bones, study.implant.knee
    digests = {name: file_hash(file) for name, file in inputs.files.items()}
    decisive = [settings.model_dump(mode="json"), knee, digests, inputs.source]
    key = sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
    natural = partial(load_bones, settings, inputs.files, knee)
    return keep_meshes(path, key, lambda: build_bones(settings, natural()))
