"""Tables (CSV), text, JSON records and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kneewear import RESULTS_SCHEMA, __version__
from kneewear.base.files import Location, value_at
from kneewear.errors import NOT_COMPUTED, DamagedFileError, InputDataError
from kneewear.io.result_files import atomic_path, read_checked

if TYPE_CHECKING:  # half a second that writers of text need not wait
    import pandas as pd

# What spreadsheets take for a formula, and for a number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?([\d.]+(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)
# Room round a figure's ink, and what a layout leaves of it, inches.
_MARGIN = 0.1
_PAD = 0.04
# Coordinates of a path of an SVG file, and what is left out of their decimals.
_PATH = re.compile(r'\bd="[^"]*"')
_DECIMALS = re.compile(r"(?<=\d\.\d\d)\d+(?![\de])")
# Dots per inch of pictures, and of the parts of a drawing that are pictures: twice what the page
# shows, 250 on A4. Formats that a study asks for are for print.
_SCREEN = 200
_PRINT = 300
# Journals ask for 500 dots per inch of lines and pictures in one.
_JOURNAL = 500
# Without a date equal figures are equal files. Flat areas pack well at the lowest level.
_FIGURE_OPTIONS: dict[str, dict[str, Any]] = {
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 1}},
}


def save_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table without its index; equal tables are equal files.

    Numbers are written in the shortest form that reads back to the same bits. Text that a
    spreadsheet would run as a formula begins with an apostrophe, which `load_table` removes.
    """
    with atomic_path(path) as temporary:
        _with_texts(table, _quoted).to_csv(
            temporary, index=False, lineterminator="\n", encoding="utf-8"
        )


def load_table(path: str | Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV table, in which lines that start with # are comments.

    Raises InputDataError when there is no such file, DamagedFileError when its digest is not that
    of what was written, or it is no table, or one of the required `columns` is missing.
    """
    import pandas as pd  # noqa: PLC0415

    try:
        table = pd.read_csv(BytesIO(read_checked(path, "a CSV table")), comment="#")
    except ValueError as error:  # pandas' parser errors and wrong encodings are ValueErrors
        raise DamagedFileError(path, str(error), "a CSV table") from error
    table = _with_texts(table, _unquoted)
    missing = [column for column in columns if column not in table.columns]
    if missing:
        found = f"columns {', '.join(map(str, table.columns))}"
        raise DamagedFileError(path, found, f"column {', '.join(missing)}", "header")
    return table


def _with_texts(table: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    """Table with a change of every text and name of a column."""
    if any(change(name) != name for name in table):
        table = table.rename(columns=change)
    for number, name in enumerate(table):
        column = table.iloc[:, number]
        if column.dtype.kind in "biufM":
            continue
        changed = column.map(change)
        if not changed.equals(column):
            table = table.assign(**{str(name): changed})
    return table


def _quoted(value: Any) -> Any:
    """A text that is no formula to a spreadsheet."""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _unquoted(value: Any) -> Any:
    """The text that `_quoted` was given."""
    if isinstance(value, str) and value.startswith("'") and _quoted(value[1:]) == value:
        return value[1:]
    return value


def save_reason(reason: str, path: str | Path) -> None:
    """Write why a table was not computed in its place."""
    import pandas as pd  # noqa: PLC0415

    save_table(pd.DataFrame({NOT_COMPUTED: [reason]}), path)


def load_computed(paths: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tables by the names of their files, without those that were not computed."""
    tables = {Path(path).stem: load_table(path) for path in paths}
    return {name: table for name, table in tables.items() if NOT_COMPUTED not in table}


def save_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def save_bytes(content: bytes, path: str | Path) -> None:
    """Write a file of any kind."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def save_json(record: Mapping[str, Any], path: str | Path) -> None:
    """Write a record of plain builtins as indented JSON."""
    save_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", path)


def save_settings(settings: Mapping[str, Any], path: str | Path) -> None:
    """Write settings of a study as YAML."""
    save_text(settings_text(settings), path)


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings of a study as YAML text."""
    import yaml  # noqa: PLC0415 - only here

    return str(yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True))


def load_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON record; raises as `load_table`."""
    try:
        record = json.loads(read_checked(path, "a JSON record"))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(path, str(error), "a JSON record") from error
    if not isinstance(record, dict):
        raise DamagedFileError(path, type(record).__name__, "a JSON object")
    return record


def load_record(path: str | Path) -> dict[str, Any]:
    """Read a JSON record of a finished study: its summary, or `provenance.json`.

    Raises as `load_table`, and InputDataError for results of a later schema than this version's.
    Records without a schema are of the first one.
    """
    record = load_json(path)
    schema = record.get("schema", 1)
    if not isinstance(schema, int) or not 1 <= schema <= RESULTS_SCHEMA:
        expected = f"at most {RESULTS_SCHEMA}, which kneewear {__version__} reads"
        remedy = "Open them with the version that wrote them (key version), or a later one."
        raise InputDataError(path, f"results of schema {schema}", expected, remedy, "key schema")
    return record


def replace_values(text: str, values: Mapping[Location, float]) -> str:
    """YAML text with the numbers at some locations (keys and positions in lists) replaced.

    Numbers are written to four digits. Raises ValueError if there is no number at a location.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - only here

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


def save_figures(
    figures: Mapping[str, Any],
    folder: str | Path,
    formats: Sequence[str] = (),
    pictures: Sequence[str] = (),
) -> None:
    """Write matplotlib figures as `{name}.svg`, and as `{name}.{format}` in further formats.

    Figures whose names start with one of `pictures` are written as PNG too. The folder is made
    even if there is no figure.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        # The layout is computed once for all formats: it costs more than drawing.
        layout = figure.get_layout_engine()
        if layout is not None:
            layout.execute(figure)
        ink = _ink(figure).padded(_MARGIN)
        # Matplotlib's "none" keeps a placeholder, for which every figure is drawn twice.
        figure.set_layout_engine(None)
        shown = ["png"] if name.startswith(tuple(pictures)) else []
        for suffix in dict.fromkeys(("svg", *formats, *shown)):
            dpi = _PRINT if suffix in formats else _SCREEN
            with atomic_path(Path(folder, f"{name}.{suffix}")) as temporary:
                figure.savefig(temporary, dpi=dpi, bbox_inches=ink, **_FIGURE_OPTIONS[suffix])
                if suffix == "svg":
                    _round_paths(temporary)


def save_sized_figure(figure: Any, files: Iterable[Path]) -> None:
    """Write a figure at its own size, as PDF or PNG by the ending of each file."""
    for file in files:
        with atomic_path(file) as temporary:
            options = _FIGURE_OPTIONS[file.suffix[1:]]
            figure.savefig(temporary, format=file.suffix[1:], dpi=_JOURNAL, **options)


def _round_paths(file: Path) -> None:
    """Round the coordinates of paths to a hundredth of a point: a third of the file is decimals."""
    text = file.read_text(encoding="utf-8")
    rounded = _PATH.sub(lambda found: _DECIMALS.sub("", found[0]), text)
    file.write_text(rounded, encoding="utf-8")


def _ink(figure: Any) -> Any:
    """Bounds of what a figure shows, inches.

    A layout of axes of any aspect fills the figure, but for titles wider than their axes.
    """
    filled = figure.get_layout_engine() is not None and all(
        axes.name == "rectilinear" and axes.get_aspect() == "auto" for axes in figure.axes
    )
    if not filled:
        return figure.get_tightbbox()
    parts = (one for axes in figure.axes for one in axes.get_children() if one.get_in_layout())
    texts = (part for part in parts if hasattr(part, "get_text") and part.get_text())
    ends = [text.get_window_extent().x1 / figure.dpi for text in texts]
    box = figure.bbox_inches.padded(-_PAD)
    box.x1 = max([box.x1, *ends])
    return box
