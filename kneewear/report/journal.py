"""Manuscript files of a finished study: methods, tables, captions and references, ready to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from kneewear.base.references import Reference, as_bibtex
from kneewear.io.docx import WordDocument
from kneewear.report.source_tables import assumptions, cited_sources, motion_sources
from kneewear.report.specification import figure_text, page_data
from kneewear.report.study_tables import variable_table
from kneewear.report.summary import read_key_results
from kneewear.report.values import Values

# Widths of figures, mm, by the end of their names: a column and the page of Elsevier's journals.
NARROW = "one_column"
WIDTHS_MM = {NARROW: 90.0, "two_columns": 190.0}
METHODS = "journal"
# Signs of LaTeX, and letters that its fonts lack.
_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "×": r"$\times$",
    "²": "$^2$",
    "³": "$^3$",
    "−": "$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "°": r"$^\circ$",
    "·": r"$\cdot$",
    "–": "--",
    "“": "``",
    "”": "''",
    "’": "'",
    "σ": r"$\sigma$",
    "μ": r"$\mu$",
    "µ": r"$\mu$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "…": r"\ldots{}",
}
_SUPERSCRIPTS = "⁻⁰¹⁴⁵⁶⁷⁸⁹"
_LATEX |= {sign: f"$^{{{plain}}}$" for sign, plain in zip(_SUPERSCRIPTS, "-01456789", strict=True)}
_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[a4paper, margin=10mm]{geometry}
\usepackage{booktabs, graphicx, longtable}
\begin{document}
"""


@dataclass(frozen=True)
class Manuscript:
    """Texts of a study for a paper.

    Parameters
    ----------
    heading : str
        Title.
    methods : tuple of tuple of str
        Sentences of the paragraph of methods, each in parts; every second part is the key of a
        reference.
    tables : tuple
        Captions, headers and rows.
    figures : tuple of str
        Names of the figures.
    references : mapping of str to Reference
        References by key.
    """

    heading: str
    methods: tuple[tuple[str, ...], ...]
    tables: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]], ...]
    figures: tuple[str, ...]
    references: Mapping[str, Reference]


def build_manuscript(
    summary: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    figures: Sequence[str],
) -> Manuscript:
    """Manuscript of a study from its summary, settings and versions, and the names of figures."""
    results = read_key_results(summary)
    rows = tuple((result.title, result.amount, result.details) for result in results)
    key_table = ("Key results", ("Result", "Value", "Interval, limit"), rows)
    tables = [
        (table["caption"], tuple(table["header"]), tuple(map(tuple, table["rows"])))
        for table in summary["tables"]
    ]
    sources = cited_sources(dict(settings))
    works = [source for source in sources if isinstance(source, Reference)]
    return Manuscript(
        heading=f"{summary['heading']}: {summary['study']}",
        methods=tuple(_methods(summary, settings, versions, sources)),
        tables=(key_table, *tables) if rows else tuple(tables),
        figures=tuple(figures),
        references={work.key: work for work in works},
    )


# Around the key of a reference in a sentence: no text of settings has it.
_MARK = "\x00"


def _methods(
    summary: Mapping[str, Any],
    settings: Mapping[str, Any],
    versions: Mapping[str, str],
    sources: Mapping[str | Reference, str],
) -> Iterator[tuple[str, ...]]:
    """Sentences whose values the study has; every second part is the key of a reference."""
    cited = [
        f"{_lower(use)} {_MARK}{source.key}{_MARK}"
        for source, use in sources.items()
        if isinstance(source, Reference)
    ]
    variables = [
        f"{row['variable'].removesuffix(' ' + row['unit'])} ({row['values']} {row['unit']})"
        for row in variable_table(dict(settings)).to_dict("records")
    ]
    blocks = settings.get("wear", {}).get("blocks", 1)
    named: dict[str, Any] = {
        "settings": settings,
        "program": summary["version"],
        "number": summary["number"],
        "versions": versions,
        "surface_follows": blocks > 1,
        "variables": "; ".join(variables) or None,
        "assumed": "; ".join(assumptions(dict(settings))["found"]) or None,
        "motion": "; ".join(motion_sources(dict(settings))["text"].unique()[:1]) or None,
        "sources": "; ".join(cited) or None,
    }
    values = Values(named)
    for sentence in page_data(METHODS)["methods"]:
        where = sentence.get("where", {})
        met = all(_value({**settings, **named}, key) == value for key, value in where.items())
        text = values.text(sentence["text"]) if met else None
        if text is not None:
            yield tuple(text.split(_MARK))


def _lower(uses: str) -> str:
    """Uses of a source within a sentence."""
    return ", ".join(use[:1].lower() + use[1:] for use in uses.split("; "))


def _value(settings: Mapping[str, Any], key: str) -> Any:
    """Setting at a path; None where there is none."""
    block: Any = settings
    for step in key.split("."):
        block = block.get(step) if isinstance(block, Mapping) else None
    return block


def manuscript_files(manuscript: Manuscript) -> dict[str, bytes]:
    """Manuscript as LaTeX with BibTeX, and as a document of Word, by names of files."""
    return {
        "manuscript.tex": _latex(manuscript).encode(),
        "manuscript.docx": _word(manuscript),
        "references.bib": as_bibtex(manuscript.references.values()).encode(),
    }


def _latex(manuscript: Manuscript) -> str:
    """Document of LaTeX, which includes the figures and cites the references."""
    sentences = [
        "".join(
            f"\\cite{{{part}}}" if number % 2 else latex_text(part)
            for number, part in enumerate(parts)
        )
        for parts in manuscript.methods
    ]
    parts = [_PREAMBLE, f"\\section*{{{latex_text(manuscript.heading)}}}", "\n".join(sentences)]
    for caption, header, rows in manuscript.tables:
        # Cells of sentences are broken into lines.
        width = f"p{{{0.94 / len(header):.3f}\\linewidth}}"
        lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (header, *rows)]
        parts.append(
            f"\\begin{{longtable}}{{{width * len(header)}}}\n"
            f"\\caption{{{latex_text(caption)}}}\\\\\n\\toprule\n{lines[0]}\n\\midrule\n\\endhead\n"
            + "\n".join(lines[1:])
            + "\n\\bottomrule\n\\end{longtable}"
        )
    for name in manuscript.figures:
        text = figure_text(name)
        parts.append(
            "\\begin{figure}\n\\centering\n"
            f"\\includegraphics{{figures/{name}_two_columns.pdf}}\n"
            f"\\caption{{{latex_text(_caption(text.title, text.caption))}}}\n\\end{{figure}}"
        )
    parts.append("\\bibliographystyle{plain}\n\\bibliography{references}\n\\end{document}\n")
    return "\n\n".join(parts)


def latex_text(text: str) -> str:
    """Text with the signs of LaTeX as letters."""
    return "".join(_LATEX.get(sign, sign) for sign in text).replace("}$$^{", "")


def _word(manuscript: Manuscript) -> bytes:
    """Document of Word with references by author and year."""
    document = WordDocument()
    document.add_heading(manuscript.heading)
    document.add_paragraph(
        " ".join(
            "".join(
                f"({manuscript.references[part].cited})" if number % 2 else part
                for number, part in enumerate(parts)
            )
            for parts in manuscript.methods
        )
    )
    for number, (caption, header, rows) in enumerate(manuscript.tables, 1):
        document.add_paragraph(f"Table {number}. {caption}", "Caption")
        document.add_table(header, rows)
    document.add_heading("Captions of figures")
    for number, name in enumerate(manuscript.figures, 1):
        text = figure_text(name)
        document.add_paragraph(f"Figure {number} ({name}). {_caption(text.title, text.caption)}")
    document.add_heading("References")
    for reference in sorted(manuscript.references.values(), key=attrgetter("text")):
        document.add_paragraph(reference.text)
    return document.content()


def _caption(title: str, caption: str) -> str:
    """Title and caption of a figure as sentences."""
    return f"{title.rstrip('.')}. {caption}".strip()
