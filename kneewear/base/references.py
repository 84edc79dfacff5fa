"""Works that are cited, as records: sentences and BibTeX are both written from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

# Last of the authors where the others were not read, as in BibTeX.
OTHERS = "others"
# Type of an entry of BibTeX by the field that says where the work appeared.
_TYPES = {
    "journal": "article",
    "publisher": "book",
    "school": "phdthesis",
    "institution": "techreport",
}
_MAX_NAMES = 2


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A work that is cited.

    Exactly one of `journal`, `publisher`, `school` and `institution` states where it appeared.

    Parameters
    ----------
    key : str
        Key in BibTeX: family name of the first author and year, in ASCII.
    authors : tuple of str
        Family names and initials, "Bei, Y."; `OTHERS` is the last one if the rest was not read.
    year : int or None
        Year of publication.
    title : str
        Title; empty if it was not read.
    edition, report, volume, number, pages : str
        Edition of a book, series of a report, and place in a journal; empty if there is none.
    doi : str
        Digital object identifier, without an address.
    note : str
        What of the record was quoted from memory.
    """

    key: str
    authors: tuple[str, ...]
    year: int | None = None
    title: str = ""
    journal: str = ""
    publisher: str = ""
    school: str = ""
    institution: str = ""
    edition: str = ""
    report: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse a work without authors, or with none or several places."""
        places = [name for name in _TYPES if getattr(self, name)]
        if not self.authors or len(places) != 1:
            raise ValueError(
                f"reference {self.key}: authors and exactly one of {', '.join(_TYPES)} expected, "
                f"found {len(self.authors)} authors and {', '.join(places) or 'none of them'}"
            )

    @property
    def kind(self) -> str:
        """Type of the entry of BibTeX."""
        return next(kind for name, kind in _TYPES.items() if getattr(self, name))

    @property
    def authors_and_year(self) -> str:
        """All authors and the year, as they open the reference in full."""
        *first, last = self.authors
        if last == OTHERS:
            names = f"{', '.join(first)} et al."
        else:
            names = f"{', '.join(first)} and {last}" if first else last
        return names if self.year is None else f"{names} ({self.year})"

    @property
    def text(self) -> str:
        """Reference in full, as a list of references has it."""
        address = f"https://doi.org/{self.doi}" if self.doi else ""
        note = f"({self.note})" if self.note else ""
        # An address ends without a full stop, which would be read as a part of it.
        sentences = [self.authors_and_year, _sentence(self._named()), _sentence(self._placed())]
        return " ".join(filter(None, [*sentences, address, note]))

    @property
    def cited(self) -> str:
        """Authors and year as they are written within a sentence."""
        names = [author.split(",")[0] for author in self.authors if author != OTHERS]
        if len(names) > _MAX_NAMES or OTHERS in self.authors:
            listed = f"{names[0]} et al."
        else:
            listed = " and ".join(names)
        return listed if self.year is None else f"{listed}, {self.year}"

    def _named(self) -> str:
        """Title with the edition."""
        return f"{self.title}, {self.edition} edition" if self.edition else self.title

    def _placed(self) -> str:
        """Journal with volume and pages, publisher, school or report."""
        if self.school:
            return f"PhD thesis, {self.school}"
        if self.institution:
            return ", ".join(filter(None, [self.report, self.institution]))
        if self.publisher:
            return self.publisher
        number = f"({self.number})" if self.number else ""
        volume = f"{self.journal} {self.volume}{number}".rstrip()
        return ", ".join(filter(None, [volume, self.pages]))

    def bibtex(self) -> str:
        """Entry of BibTeX."""
        fields = {
            "author": " and ".join(self.authors),
            "year": "" if self.year is None else str(self.year),
            # Capitals of a title, as in names of polymers, are kept.
            "title": f"{{{self.title}}}" if self.title else "",
            **{name: getattr(self, name) for name in _TYPES},
            "edition": self.edition,
            "type": self.report,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages.replace("-", "--"),
            "doi": self.doi,
            "note": self.note,
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"


def _sentence(text: str) -> str:
    """Text with a full stop, if it has no end; empty if there is none."""
    return text if not text or text.endswith(("?", ".")) else f"{text}."


@cache
def references() -> dict[str, Reference]:
    """Works that the package cites, by their keys (`references.yaml`)."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    records: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return {
        key: Reference(key=key, **{**record, "authors": tuple(record["authors"])})
        for key, record in records.items()
    }


def cite(*keys: str) -> tuple[Reference, ...]:
    """Works of the package by their keys."""
    return tuple(references()[key] for key in keys)


def as_bibtex(works: Iterable[Reference]) -> str:
    """Entries of BibTeX."""
    return "\n".join(work.bibtex() for work in works)
