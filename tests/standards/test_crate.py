"""Archives of studies as roc-validator judges them."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kneewear.io.crate import METADATA
from kneewear.runs.finished import export_study
from tests.finished import write_finished

PYTHON = Path(sys.prefix) / "standards" / "bin" / "python"
# Recommendations that need an address of kneewear, and of the publisher.
ADDRESSES = {"process-run-crate-0.5_3.2", "process-run-crate-0.5_5.1"}
OPTIONS = {"license_name": "CC-BY-4.0", "authors": ["A. Author"], "publisher": "An Institute"}


def without(crate, properties):
    """Crate whose root lacks some properties."""
    changed = crate.with_name("_".join(properties) + crate.name)
    with zipfile.ZipFile(crate) as packed, zipfile.ZipFile(changed, "w") as written:
        for name in packed.namelist():
            content = packed.read(name)
            if name == METADATA:
                metadata = json.loads(content)
                root = next(one for one in metadata["@graph"] if one["@id"] == "./")
                for named in properties:
                    del root[named]
                content = json.dumps(metadata).encode()
            written.writestr(name, content)
    return changed


@pytest.mark.slow
@pytest.mark.workflow
def test_archives_are_process_run_crates(tmp_path):
    if not PYTHON.is_file():
        pytest.skip("needs .venv/standards, which make check and make test-slow install")
    study = write_finished(tmp_path / "a study")
    compared = write_finished(tmp_path / "compared", page="comparison")
    crates = [
        export_study(study, tmp_path / "full.zip", **OPTIONS),
        export_study(study, tmp_path / "plain.zip"),
        export_study(compared, tmp_path / "compared.zip"),
    ]
    crates.append(without(crates[0], ["license", "datePublished", "conformsTo"]))
    script = Path(__file__).with_name("validate_crate.py")
    done = subprocess.run(
        [PYTHON, script, tmp_path / "cache", *crates],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    full, plain, other, broken = (
        {(level, check) for level, check, _ in found} for found in json.loads(done.stdout)
    )
    urls = {("RECOMMENDED", check) for check in ADDRESSES}
    assert full == urls | {("RECOMMENDED", "ro-crate-1.1_31.2")}
    unnamed = {"process-run-crate-0.5_8.6", "ro-crate-1.1_22.2", "ro-crate-1.1_22.3"}
    assert plain == urls | {("RECOMMENDED", check) for check in unnamed}
    assert {level for level, _ in other} == {"RECOMMENDED"}
    assert {check for level, check in broken if level == "REQUIRED"} == {
        "ro-crate-1.1_8.3",
        "ro-crate-1.1_8.4",
        "process-run-crate-0.5_2.1",
    }
