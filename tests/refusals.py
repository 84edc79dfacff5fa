"""Refusals by place and check: tests do not assert the words of a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kneewear.errors import Finding, InputDataError


def refusal(function: Callable[..., Any], *arguments: Any, **options: Any) -> Finding:
    """Finding with which a call is refused."""
    with pytest.raises(InputDataError) as caught:
        function(*arguments, **options)
    finding = caught.value.finding
    assert finding.found
    assert finding.remedy
    return finding


def refused_at(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Place of a refusal: name of the file and position in it."""
    where = refusal(function, *arguments, **options).where
    path, comma, position = where.partition(", ")
    return Path(path).name + comma + position
