"""Collect the conditions of measured tests, one file each, into the studies that compute them.

`python -m kneewear.evidence.measured_wear.collect` writes the tests of
`kneewear/evidence/measured_wear/conditions` into the block `wear_test.tests` of
`config/evidence/measured_wear.yaml`, and their names into the variables of this study and of
`config/evidence/wear_posterior.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from kneewear import checkout_folder, default_settings_file
from kneewear.analysis.literature import published_rows
from kneewear.base.files import read_settings_file
from kneewear.errors import InputDataError
from kneewear.study.settings import read_study

PACKAGE = "kneewear.evidence.measured_wear"
MEASURED = "config/evidence/measured_wear.yaml"
POSTERIOR = "config/evidence/wear_posterior.yaml"
# What is above the tests in the study; all below is collected.
_ABOVE = "  tests:\n"
_MADE = "    # Made from kneewear/evidence/measured_wear/conditions; not edited by hand.\n"
_NAMES = re.compile(r"(    settings: \[wear_test\.test\]\n    values:\n)(?:      - \w+\n)+")


def condition_files() -> list[Path]:
    """Files of conditions, one a test, by name."""
    folder = Path(str(files(PACKAGE).joinpath("conditions")))
    return sorted(folder.glob("*.yaml"))


def measured_tests(computed: Sequence[str] = ()) -> list[str]:
    """Tests of `measured_wear.csv`, those that ratios are over among them.

    The `computed` ones come first, in their order: cases keep their names. InputDataError if a test
    has no file, or a file no row.
    """
    table = published_rows(PACKAGE, "measured_wear")
    rows = zip(table["test"], table["over"], strict=True)
    names = list(dict.fromkeys(name for row in rows for name in row if name))
    known = {path.stem for path in condition_files()}
    for name in sorted(known ^ set(names)):
        place = f"{name}.yaml" if name in known else "measured_wear.csv"
        raise InputDataError(
            place,
            f"test {name} in one of conditions and measured_wear.csv",
            "a file of conditions and a row for every test",
            "Add the other, or correct its name.",
        )
    return sorted(names, key=[*computed, *names].index)


def with_names(text: str, names: list[str]) -> str:
    """Text of a study with these tests as levels of its variable."""
    return _NAMES.sub(lambda found: found[1] + "".join(f"      - {one}\n" for one in names), text)


def with_tests(text: str, names: list[str]) -> str:
    """Text of a study with the conditions of these tests as its last block."""
    folder = {path.stem: path for path in condition_files()}
    parts = [text[: text.index(_ABOVE)], _ABOVE, _MADE]
    for name in names:
        read_settings_file(folder[name])
        lines = folder[name].read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith("#")]
        parts += [f"    {name}:\n", *(f"      {line}\n" for line in kept)]
    return "".join(parts)


def collect(root: Path) -> dict[str, str]:
    """Texts of both studies by their paths below a checkout."""
    measured, posterior = (
        (root / path).read_text(encoding="utf-8") for path in (MEASURED, POSTERIOR)
    )
    variables = read_settings_file(root / MEASURED).content["variables"]
    names = measured_tests(variables["test"]["values"])
    return {
        MEASURED: with_tests(with_names(measured, names), names),
        POSTERIOR: with_names(posterior, names),
    }


if __name__ == "__main__":
    here = checkout_folder()
    for name, text in collect(here).items():
        (here / name).write_text(text, encoding="utf-8")
    # Refuses what is no test of bearings.
    read_study(here / MEASURED, defaults=default_settings_file())
