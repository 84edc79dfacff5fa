"""Kernels round alike whoever compiled them."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError
from packaging.utils import canonicalize_name

import kneewear
from kneewear.base import machine_code
from kneewear.base.compilation import Kernel, by_address, compiled
from kneewear.base.machine_code import Structure

pytestmark = pytest.mark.compiled

PACKAGE = Path(kneewear.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("_*kernels.py"))
]


@pytest.mark.parametrize("module", MODULES)
def test_no_kernel_lets_the_compiler_choose_how_to_round(module):
    # A relaxed kernel rounds otherwise when compiled by this process than when loaded.
    kernels = {
        name: value
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, Kernel)
    }
    assert kernels
    relaxed = [name for name, kernel in kernels.items() if kernel.targetoptions.get("fastmath")]
    assert not relaxed


def printed(script):
    """Return the output of a program in a process of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_numba_is_imported_when_the_first_kernel_is_called():
    script = (
        "import sys, kneewear.report.figures, kneewear.motion.cases\n"
        "from kneewear.geometry.primitives import cylinder\n"
        "surface, before = cylinder(20.0, 5.0), 'numba' in sys.modules\n"
        "print(before, surface.evaluate(0.5, 0.5).shape, 'numba' in sys.modules)"
    )
    assert printed(script).split(" ", 1) == ["False", "(3,) True\n"]


def test_threads_that_call_a_kernel_at_once_share_its_dispatcher(monkeypatch):
    made = []

    def make_slowly(function, inlined, records):
        time.sleep(0.05)
        made.append(inlined)
        return function

    monkeypatch.setattr(machine_code, "make_dispatcher", make_slowly)
    kernel = compiled(lambda x: x + 1.0)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(kernel, range(4))) == [1.0, 2.0, 3.0, 4.0]
    assert made == [False]


def test_kernels_run_where_nothing_can_be_kept(tmp_path):
    """Compiled again in every process, with a warning."""
    (tmp_path / "file").touch()
    script = (
        "from kneewear.base import compilation, kernel_cache\n"
        "double = compilation.compiled(lambda x: 2.0 * x)\n"
        "assert compilation.compiled(lambda x: x + 1.0)(1.0) == 2.0\n"
        "print(double(2.0), kernel_cache.can_cache())"
    )
    # Below a file no folder can be made, by no user.
    nowhere = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "below")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=nowhere | {"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["4.0", "False"], done.stderr
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.slow
def test_kernels_compile_before_packages_that_they_do_not_need_are_there():
    """The Makefile compiles them beside the installation of all others."""
    makefile = (PACKAGE.parent / "Makefile").read_text()
    first = re.search(r"^KERNELS := (.*)$", makefile, re.MULTILINE)[1].split()
    script = (
        "import sys, kneewear.base.machine_code, kneewear.motion.warm_up\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    lock = (PACKAGE.parent / "requirements.lock").read_text()
    locked = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==\S+ \\$", lock, re.M)}
    owners = packages_distributions()
    imported = {
        canonicalize_name(owner)
        for name in printed(script).split()
        for owner in owners.get(name, ())
    }
    assert imported & locked == {canonicalize_name(name) for name in first}


def test_a_kernel_called_by_address_is_compiled_when_it_is_given_away_and_for_one_type_only():
    @njit
    def fill(values):
        values[0] = 2.0

    @njit
    def call(kernel, values):
        kernel(values)

    values = np.zeros(1)
    address = by_address(fill, values)
    assert not fill.signatures
    call(address, values)
    assert values[0] == 2.0
    assert len(fill.signatures) == 1
    with pytest.raises((NumbaError, ValueError)):
        call(address, np.zeros((1, 1)))


def test_names_of_structures_are_short_and_tell_them_apart():
    long = [(f"field_{number}", types.float64) for number in range(100)]
    one, same, other = Structure(long), Structure(long), Structure(long[1:])
    assert one == same
    assert one != other
    assert len(one.name) < 40


CUBE = """
import kneewear
from kneewear.geometry.primitives import cylinder
from kneewear.geometry import _kernels
print(*cylinder(20.0, 5.0).evaluate(0.5, 0.5))
print(sum(_kernels.evaluate_many.stats.cache_hits.values()))
"""


def half(content):
    return content[: len(content) // 2]


def one_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


@pytest.mark.parametrize(
    ("damage", "suffix"),
    [
        pytest.param(half, "nbc", id="code is cut", marks=pytest.mark.slow),
        pytest.param(one_bit, "nbc", id="one bit of code", marks=pytest.mark.slow),
        pytest.param(lambda content: b"", "nbi", id="index is empty"),
        pytest.param(
            lambda content: bytes(len(content)),
            "nbi",
            id="zeros for an index",
            marks=pytest.mark.slow,
        ),
        pytest.param(half, "nbi", id="index is cut", marks=pytest.mark.slow),
        pytest.param(one_bit, "nbi", id="one bit of the index", marks=pytest.mark.slow),
        pytest.param(lambda content: b"", "nbc", id="code is empty", marks=pytest.mark.slow),
        pytest.param(
            lambda content: bytes(len(content)),
            "nbc",
            id="zeros for code",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_damaged_machine_code_is_compiled_again_once(damage, suffix, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    first = printed(CUBE).splitlines()
    files = list(tmp_path.rglob(f"*.{suffix}"))
    assert files
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    again, loaded = (printed(CUBE).splitlines() for _ in range(2))
    assert first[0] == again[0] == loaded[0]
    assert [int(one[1]) for one in (first, again, loaded)] == [0, 0, 1]


@pytest.mark.parametrize("command", [["check", "--files-only"], ["run"]])
@pytest.mark.slow
def test_kernels_that_are_not_compiled_or_kept_are_named_before_the_first_job(
    command, tmp_path, monkeypatch
):
    (tmp_path / "mine.yaml").write_text("study: mine\n")
    script = (
        "import kneewear.__main__ as command\n"
        "command.run_workflow = lambda files, options: 3\n"
        f"command.main({[*command, 'mine.yaml']})"
    )
    for name, value in (("NUMBA_DISABLE_JIT", "1"), ("NUMBA_CACHE_DIR", "/proc/x")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=os.environ | {name: value, "PYTHONPATH": str(PACKAGE.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.count(name) == 1, done.stderr
