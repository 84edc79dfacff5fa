"""Change values in a file of settings, with its comments and layout unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from kneewear.settings.files import Location, value_at


def replace_values(text: str, values: Mapping[Location, float]) -> str:
    """YAML text with the numbers at some locations (keys and positions in lists) replaced.

    Numbers are written to four digits. Raises ValueError if there is no number at a location.
    """
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 1000
    yaml.indent(mapping=2, sequence=4, offset=2)
    # The written forms that YAML 1.1 readers, PyYAML among them, read as null and as numbers.
    yaml.representer.add_representer(type(None), _scalar("null", lambda _: "null"))
    yaml.representer.add_representer(float, _scalar("float", _four_digits))
    content = yaml.load(text)
    for location, value in values.items():
        found = value_at(content, location)
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise ValueError(f"no number at {'.'.join(map(str, location))}")
        value_at(content, location[:-1])[location[-1]] = float(value)
    stream = StringIO()
    yaml.dump(content, stream)
    return stream.getvalue()


def _scalar(kind: str, shown: Any) -> Any:
    """Representer of one type of value."""
    return lambda representer, value: representer.represent_scalar(
        f"tag:yaml.org,2002:{kind}", shown(value)
    )


def _four_digits(value: float) -> str:
    """Number to four digits; one with an exponent has a point, or YAML 1.1 reads it as text."""
    digits, _, exponent = f"{value:.4g}".partition("e")
    point = "" if "." in digits or not exponent else ".0"
    return f"{digits}{point}e{int(exponent)}" if exponent else digits
