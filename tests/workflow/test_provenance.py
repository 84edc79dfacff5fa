"""Fingerprints follow code, not words."""

from __future__ import annotations

import pytest

from kneewear.io.result_files import job_records
from kneewear.runs import provenance
from kneewear.runs.provenance import source_fingerprint


def make_checkout(folder, wear="def depth():\n    return 1\n"):
    files = {
        "scripts/wear.py": "from kneewear.wear import depth\n",
        "scripts/grid.py": "def late():\n    import kneewear.grid.cells\n",
        "kneewear/__init__.py": "",
        "kneewear/grid/cells.py": "from kneewear import errors\n",
        "kneewear/errors.py": "",
        "kneewear/wear/__init__.py": "from kneewear.wear.laws import depth\n",
        "kneewear/wear/laws.py": wear,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def before(tmp_path):
    return make_checkout(tmp_path / "before")


def test_words_do_not_count(tmp_path, before):
    said = '"""Module."""\n\n\ndef depth():\n    """Depth."""\n    # A remark.\n    return 1\n'
    after = make_checkout(tmp_path / "after", said)
    assert source_fingerprint("wear", before) == source_fingerprint("wear", after)


def test_descriptions_of_settings_do_not_count_and_their_limits_do(tmp_path, before):
    def fingerprint(name, text):
        return source_fingerprint("wear", make_checkout(tmp_path / name, text))

    said = fingerprint("said", 'depth = Field(gt=0, description="Depth.")\n')
    better = fingerprint("better", 'depth = Field(gt=0, description="Depth " "of wear.")\n')
    narrower = fingerprint("narrower", 'depth = Field(gt=1, description="Depth.")\n')
    computed = fingerprint("computed", "depth = Field(gt=0, description=text())\n")
    assert said == better
    assert len({said, narrower, computed}) == 3
    spans = [
        fingerprint(name, f'depth = quantity(\n    "{name}", {span})\n')
        for name, span in (("short", "_MM"), ("longer", "_MM"), ("other", "_MPA"))
    ]
    assert spans[0] == spans[1] != spans[2]


def test_code_two_imports_away_counts(tmp_path, before):
    after = make_checkout(tmp_path / "after", "def depth():\n    return 2\n")
    assert source_fingerprint("wear", before) != source_fingerprint("wear", after)
    assert source_fingerprint("grid", before) == source_fingerprint("grid", after)


def test_imports_inside_functions_count(tmp_path, before):
    after = make_checkout(tmp_path / "after")
    (after / "kneewear" / "errors.py").write_text("CODE = 1\n")
    assert source_fingerprint("grid", before) != source_fingerprint("grid", after)


def test_modules_of_divided_packages_count_singly(tmp_path):
    def fingerprint(name, **changed):
        checkout = make_checkout(tmp_path / name)
        texts = {"shapes": "", "curves": "from kneewear.wear.laws import depth\n"} | changed
        for module, text in texts.items():
            file = checkout / "kneewear" / "io" / f"{module}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        (checkout / "scripts/wear.py").write_text("from kneewear.io import (\n    shapes,\n)\n")
        return source_fingerprint("wear", checkout)

    assert fingerprint("a") == fingerprint("b", curves="") != fingerprint("c", shapes="x = 1\n")


@pytest.mark.parametrize("imported", ["knee.run import steps", "knee import run"])
def test_modules_of_a_replication_count_singly(tmp_path, imported):
    def fingerprint(name, **changed):
        checkout = make_checkout(tmp_path / name)
        folder = checkout / "kneewear/knees/papers/knee"
        folder.mkdir(parents=True)
        for module, text in ({"run": "", "figures": ""} | changed).items():
            (folder / f"{module}.py").write_text(text)
        (checkout / "scripts/wear.py").write_text(f"from kneewear.knees.papers.{imported}\n")
        return source_fingerprint("wear", checkout)

    assert (
        fingerprint("a") == fingerprint("b", figures="x = 1\n") != fingerprint("c", run="x = 1\n")
    )


@pytest.mark.parametrize("gathered", [False, True])
def test_times_of_a_rule_are_sums_over_its_jobs(tmp_path, gathered):
    benchmarks, logs = tmp_path / "benchmarks", tmp_path / "logs"
    jobs = {"plot/a": (3.0, 1.25), "plot/b": (4.0, 2.5), "fit": (10.0, 20.0)}
    for job, (elapsed, processor) in jobs.items():
        for folder, suffix, text in (
            (benchmarks, ".tsv", f"s\tcpu_time\n{elapsed}\tNA\n"),
            (logs, ".seconds", f"{processor}\n"),
        ):
            path = (folder / job).with_suffix(suffix)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    (logs / "plot/c.seconds").write_text("")  # of a job on a full disk
    if gathered:
        provenance.gather_records(benchmarks, logs)
    record = provenance.provenance_record({"seed": 1}, [], benchmarks, logs)
    assert record["wall_time_s"] == {"plot": 7.0, "fit": 10.0}
    assert record["processor_s"] == {"plot": 3.75, "fit": 20.0}


def test_logs_of_jobs_are_gathered_by_rule_and_those_that_ran_again_are_replaced(tmp_path):
    def write(job, text):
        (tmp_path / job).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{job}.log").write_text(text)

    write("build_geometry", "t INFO built\n")
    write("simulate_contact/gait/b000", "t WARNING first\n")
    write("simulate_contact/gait/b001", "t INFO second\n")
    before = job_records(tmp_path, ".log")
    provenance.gather_records(tmp_path / "none", tmp_path)
    kept = {path.name for path in tmp_path.glob("*.log")}
    assert kept == {"build_geometry.log", "simulate_contact.log"}
    assert not any(path.is_dir() for path in tmp_path.glob("[!.]*"))
    assert job_records(tmp_path, ".log") == before
    write("simulate_contact/gait/b000", "t INFO again\n")
    provenance.gather_records(tmp_path / "none", tmp_path)
    after = job_records(tmp_path, ".log")
    assert after == before | {"simulate_contact/gait/b000": "t INFO again\n"}
