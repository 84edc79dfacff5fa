"""References as records: read from the form in which laws and pages cite, written as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

# "Authors (year) Title. Where it appeared. Address (note)", as CONTRIBUTING.md asks for.
_FORM = re.compile(
    r"(?P<authors>[^()]+?)(?: \((?P<year>\d{4})\)|(?<=\.)) (?P<rest>[A-Z].*)", re.DOTALL
)
_ADDRESS = re.compile(r"\s*https?://(?:doi\.org/)?(?P<doi>\S+)")
_NOTE = re.compile(r"\s*\((?P<note>[^()]*from memory)\)\.?")
_ARTICLE = re.compile(
    r"(?P<journal>.+?),? (?P<volume>\d[\d-]*)(?:\((?P<number>\d+)\))?(?:, (?P<pages>[\d-]+))?$"
)
_ONE_AUTHOR = re.compile(r"(?<=\.),? and |(?<=\.), ")
_TITLE_END = re.compile(r"(?:\.|\?) |\.$")
_MIN_WORDS = 3
_THESES = {"Dissertation": "phdthesis", "Thesis": "phdthesis"}


@dataclass(frozen=True)
class Reference:
    """A work that is cited.

    `kind` and `fields` are as in BibTeX; `text` is the reference in full.
    """

    text: str
    kind: str
    fields: Mapping[str, str]

    @cached_property
    def authors(self) -> list[str]:
        """Authors, family names first."""
        return self.fields["author"].split(" and ")

    @property
    def key(self) -> str:
        """Key of the reference: first author and year, in ASCII."""
        name = unicodedata.normalize("NFKD", self.authors[0].split(",")[0])
        letters = re.sub(r"[^a-z]", "", name.encode("ascii", "ignore").decode().lower())
        return f"{letters}{self.fields.get('year', '')}"

    @property
    def cited(self) -> str:
        """Authors and year as they stand in a sentence."""
        names = [author.split(",")[0] for author in self.authors]
        listed = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        listed = listed.replace(" and others", " et al.")
        return ", ".join(filter(None, [listed, self.fields.get("year", "")]))


def read_reference(text: str) -> Reference | None:
    """Reference of a text of the form "Authors (year) Title. Where. Address"; None for others."""
    parts = _FORM.fullmatch(text.strip())
    if parts is None:
        return None
    rest, fields = parts["rest"], {}
    if note := _NOTE.search(rest):
        fields["note"] = note["note"]
        rest = rest.replace(note[0], "")
    if address := _ADDRESS.search(rest):
        fields["doi"] = address["doi"]
        rest = rest.replace(address[0], "")
    if parts["authors"].endswith(" et al."):
        authors = [parts["authors"].removesuffix(" et al."), "others"]
    else:
        authors = _ONE_AUTHOR.split(parts["authors"])
    kind, place = _placed(rest)
    own = {"author": " and ".join(authors), "year": parts["year"] or ""} | place | fields
    return Reference(text, kind, {name: value for name, value in own.items() if value})


def _placed(rest: str) -> tuple[str, dict[str, str]]:
    """Kind of a work, and its title and place, from what follows the year."""
    ends = _TITLE_END.search(rest)
    title, where = (rest[: ends.end()].rstrip(". "), rest[ends.end() :]) if ends else (rest, "")
    where = where.strip(" .")
    if len(title.split()) < _MIN_WORDS:
        # A journal and its pages: the source was cited without a title.
        return "misc", {"howpublished": rest.rstrip(".")}
    for word, kind in _THESES.items():
        if where.startswith(f"{word}, "):
            return kind, {"title": title, "school": where.removeprefix(f"{word}, ")}
    if article := _ARTICLE.match(where):
        place = {name: value for name, value in article.groupdict().items() if value}
        if "pages" in place:
            place["pages"] = place["pages"].replace("-", "--")
        return "article", {"title": title} | place
    return "misc", {"title": title, "howpublished": where}


def read_references(texts: Iterable[str]) -> dict[str, Reference]:
    """References among some texts, by keys that differ: a letter follows equal ones."""
    known: dict[str, Reference] = {}
    for text in dict.fromkeys(texts):
        reference = read_reference(text)
        if reference is None:
            continue
        key, letters = reference.key, iter("bcdefghij")
        while key in known:
            key = reference.key + next(letters)
        known[key] = reference
    return known


def as_bibtex(references: Mapping[str, Reference]) -> str:
    """Entries of BibTeX."""
    entries = []
    for key, one in references.items():
        # Capitals of a title, as in names of polymers, are kept.
        fields = dict(one.fields)
        if "title" in fields:
            fields["title"] = f"{{{fields['title']}}}"
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
        entries.append(f"@{one.kind}{{{key},\n" + ",\n".join(lines) + "\n}\n")
    return "\n".join(entries)
