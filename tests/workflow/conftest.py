"""A copy of the checkout in which the quick study has been run."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kneewear.io.result_files import file_hash

CHECKOUT = Path(__file__).parent.parent.parent
PARTS = ("kneewear", "scripts", "workflow", "config")


class Checkout:
    """A copy of this checkout that tests may edit."""

    patience = 600.0  # s

    def __init__(
        self, folder: Path, study: str = "config/quick.yaml", origin: Path = CHECKOUT
    ) -> None:
        self.folder = folder
        self.study = study
        # The results of a copy are copied, those of this checkout are not.
        for part in PARTS if origin == CHECKOUT else (*PARTS, "results", ".snakemake"):
            # Compiled kernels come along; some numba versions go by time stamps, which are kept.
            shutil.copytree(origin / part, folder / part)
        shutil.copy2(origin / "Snakefile", folder)

    def snakemake(
        self, *arguments: str, overrides: Mapping[str, Any] | None = None, fails: bool = False
    ) -> str:
        """Run snakemake on the study and return all it says."""
        command, environment = self.command(*arguments, overrides=overrides)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=self.patience,
            check=False,
        )
        text = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, text
        return text

    def command(
        self, *arguments: str, overrides: Mapping[str, Any] | None = None
    ) -> tuple[list[str], dict[str, str]]:
        """Command and environment of a run on the study."""
        files = [self.study]
        if overrides:
            (self.folder / "overrides.yaml").write_text(
                yaml.safe_dump(dict(overrides), sort_keys=False)
            )
            files.append("overrides.yaml")
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        environment = {
            name: value for name, value in os.environ.items() if name != "KNEEWEAR_DATA"
        } | {"PYTHONPATH": str(self.folder)}
        return [*command, "--configfile", *files], environment

    def planned(self, overrides: Mapping[str, Any] | None = None) -> dict[str, int]:
        """Jobs of each rule a run would execute now."""
        text = self.snakemake("-n", overrides=overrides)
        if "Nothing to be done" in text:
            return {}
        table = text[text.rindex("Job stats:") :]
        counts = {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}
        return {name: n for name, n in counts.items() if name not in ("total", "study")}

    def edited(self, path: str, old: str, new: str) -> Edit:
        """Change a file of the copy for the length of a with block."""
        return Edit(self.folder / path, old, new)


class Edit:
    """A change of one file that is taken back."""

    def __init__(self, path: Path, old: str, new: str) -> None:
        self.path, self.old, self.new = path, old, new

    def __enter__(self) -> None:
        self.stamp = self.path.stat()
        self.text = self.path.read_text()
        assert self.old in self.text
        self.path.write_text(self.text.replace(self.old, self.new, 1))

    def __exit__(self, *_: object) -> None:
        self.path.write_text(self.text)
        os.utime(self.path, ns=(self.stamp.st_atime_ns, self.stamp.st_mtime_ns))


def contents(results: Path) -> dict[str, str]:
    """Hashes of all tables and result arrays; equal values are equal files."""
    files = [*results.rglob("*.nc"), *(results / "tables").glob("*.csv")]
    return {str(path.relative_to(results)): file_hash(path) for path in files}


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Checkout in which the quick study is complete: run once, copied for each test process."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "quick_study.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "quick_study").exists():
            (shared / "quick_study_running").mkdir()
            Checkout(shared / "quick_study_running").snakemake()
            (shared / "quick_study_running").rename(shared / "quick_study")
    return Checkout(tmp_path_factory.mktemp("checkout"), origin=shared / "quick_study")


@pytest.fixture(scope="session")
def results(finished):
    """Folder of the finished results."""
    return finished.folder / "results" / "quick"
