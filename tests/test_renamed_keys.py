"""Settings with names of the last release are read as with the present ones, with a finding."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import reduce

import pytest
import yaml

from kneewear import default_settings_file
from kneewear.base.files import read_settings, read_settings_file
from kneewear.base.keys import keys_of
from kneewear.base.renamed_keys import present_settings, rename_settings, renames
from kneewear.errors import InputDataError
from kneewear.study.settings import STUDIES, merge_settings, read_study, validate_study

DEFAULTS = default_settings_file()


def block_at(path, inner):
    """Settings that have a block or value at a path; its steps `*` are keys of any name."""
    for step in reversed(path):
        inner = {"any" if step == "*" else step: inner}
    return inner


def earlier_and_present(rename):
    """The smallest settings with the earlier name of a row, and with the present one."""
    texts = rename.old, rename.new
    inner = texts if rename.kind == "value" else ({name: 1} for name in texts)
    return tuple(block_at(rename.path, one) for one in inner)


def as_text(rename):
    return ".".join((rename.kind, *rename.path, rename.old))


@pytest.mark.parametrize("rename", renames(), ids=as_text)
def test_earlier_name_is_read_as_the_present_one(rename, tmp_path):
    earlier, present = earlier_and_present(rename)
    file = tmp_path / "study.yaml"
    file.write_text("# a comment\n" + yaml.safe_dump(earlier), encoding="utf-8")
    read = read_settings_file(file)
    assert read.content == present
    (finding,) = read.findings
    depth = len(rename.path) + (rename.kind == "key")
    # One line of the file for each step of the path; a value is in the line of its key.
    assert finding.where == f"{file}, line {1 + depth}"
    assert rename.old in finding.found
    assert rename.new in finding.expected
    assert finding.severity == "warn"


@pytest.mark.parametrize("rename", renames(), ids=as_text)
def test_present_name_has_no_finding(rename):
    _, present = earlier_and_present(rename)
    renamed = rename_settings(present, "settings")
    assert renamed.content == present
    assert renamed.findings == ()


@pytest.mark.parametrize("rename", [row for row in renames() if row.kind == "key"], ids=as_text)
def test_both_names_at_once_are_refused(rename, tmp_path):
    both = block_at(rename.path, {rename.old: 1, rename.new: 1})
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(both), encoding="utf-8")
    for read in (lambda: read_settings_file(file), lambda: present_settings(both)):
        with pytest.raises(InputDataError) as error:
            read()
        assert rename.old in error.value.finding.found
        assert rename.new in error.value.finding.found


def test_renaming_leaves_the_given_settings_as_they_are():
    for rename in renames():
        earlier, _ = earlier_and_present(rename)
        before = copy.deepcopy(earlier)
        present_settings(earlier)
        assert earlier == before


def with_earlier_names(settings):
    """Settings with the earlier name wherever a key has one, and the number of these."""
    count = 0
    for rename in reversed(renames()):
        blocks = [settings]
        for step in rename.path[: len(rename.path) - (rename.kind == "value")]:
            blocks = [
                inner
                for block in blocks
                if isinstance(block, Mapping)
                for key, inner in block.items()
                if step in ("*", key)
            ]
        for block in blocks:
            if rename.kind == "key" and isinstance(block, dict) and rename.new in block:
                block[rename.old] = block.pop(rename.new)
                count += 1
            elif rename.kind == "value" and isinstance(block, dict):
                last = rename.path[-1]
                for key in [key for key, value in block.items() if value == rename.new]:
                    if last in ("*", key):
                        block[key] = rename.old
                        count += 1
    return settings, count


def present_paths():
    """Paths of all keys of all models."""
    return {tuple(key.path.split(".")) for study in STUDIES.values() for key in keys_of(study)}


def matches(path, pattern):
    """True if a path of keys is one of a pattern; `*` on either side is any key."""
    return len(path) == len(pattern) and all(
        a == b or "*" in (a, b) for a, b in zip(path, pattern, strict=True)
    )


@pytest.mark.parametrize("rename", renames(), ids=as_text)
def test_present_names_are_keys_of_a_model_and_earlier_ones_are_not(rename):
    paths = present_paths()
    if rename.kind == "key":
        assert any(matches(path, (*rename.path, rename.new)) for path in paths)
        assert not any(matches(path, (*rename.path, rename.old)) for path in paths)
    else:
        path = rename.path[:-1] if rename.path[-1] == "*" else rename.path
        assert any(matches(one, path) for one in paths)


# Files of studies that together have every renamed key; the last one is written with earlier names.
RENAMED = [
    ("fe_knee",),
    ("planar_knee", "planar_knee_natural"),
    ("tkr_predicted_gait",),
]


@pytest.mark.parametrize("names", RENAMED, ids=" ".join)
def test_study_of_the_last_release_is_the_same_study(names, tmp_path):
    *first, last = (next(DEFAULTS.parent.rglob(f"{name}.yaml")) for name in names)
    study = read_study(*first, last, defaults=DEFAULTS)
    earlier, count = with_earlier_names(read_settings(last))
    file = tmp_path / "earlier.yaml"
    file.write_text(yaml.safe_dump(earlier), encoding="utf-8")
    findings = []
    assert read_study(*first, file, defaults=DEFAULTS, report=findings.append) == study
    assert len(findings) == count > 0
    with pytest.warns(FutureWarning):
        assert read_study(*first, earlier, defaults=DEFAULTS) == study
    merged = reduce(merge_settings, (*map(read_settings, first), earlier), read_settings(DEFAULTS))
    assert validate_study(merged) == study
    # As stored with the results of that release.
    stored, _ = with_earlier_names(study.model_dump(mode="json"))
    assert validate_study(stored) == study
