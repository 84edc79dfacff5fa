"""The README's example runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

README = Path(__file__).parent.parent / "README.md"


def test_python_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(compile(example, str(README), "exec"), {})
    depth, unit = capsys.readouterr().out.split()
    assert unit == "mm"
    assert 0.0 < float(depth) < 8.0
