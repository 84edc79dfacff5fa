"""Count the functions of the package that the steps of the quick study execute.

`python -m benchmarks.trace` prints one line per step: its name and the number of named functions
of the package that run in its thread, each counted once. Everything is done once before it is
counted, so that what is loaded, compiled and remembered at first does not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import kneewear as kw


def executed(action: Callable[[], Any], package: str | Path) -> tuple[set[CodeType], Any]:
    """Named functions below a folder that an action executes, and what it returns."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        result = action()
    finally:
        sys.setprofile(None)
    own = {code for code in found if Path(package) in Path(code.co_filename).parents}
    return {code for code in own if not code.co_name.startswith("<")}, result


def count_steps(file: str | Path) -> Mapping[str, int]:
    """Functions that each step of the chain executes on the study of a file."""
    study = kw.load_study(file)
    package = Path(kw.__file__).parent
    counts: dict[str, int] = {}
    for _ in range(2):
        functions, knee = executed(lambda: kw.build_knee(study), package)
        counts["build_knee"] = len(functions)
        functions, cycles = executed(lambda knee=knee: kw.simulate(knee, study), package)
        counts["simulate"] = len(functions)
        functions, _damage = executed(
            lambda cycles=cycles: kw.accumulate_wear(cycles, study), package
        )
        counts["accumulate_wear"] = len(functions)
    return counts


def read(text: str) -> dict[str, int]:
    """Counts of the printed lines."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


def main() -> None:
    """Print the number of functions of each step."""
    file = kw.default_settings_file().with_name("quick.yaml")
    for step, number in count_steps(file).items():
        print(step, number)


if __name__ == "__main__":
    main()
