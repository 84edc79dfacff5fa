"""Works that are cited: sentences and BibTeX of their records, and where the records are used."""

from __future__ import annotations

import re
from typing import ClassVar

import pytest

from kneewear.base.references import OTHERS, Reference, as_bibtex, cite, references
from kneewear.report.source_tables import cited_sources
from kneewear.report.specification import page_data
from kneewear.wear.law_settings import WEAR_LAWS, Archard
from tests.report.conftest import make_study

WORK = Reference(
    key="lee1998",
    authors=("Lee, K.Y.", "Pienkowski, D."),
    year=1998,
    title="Creep of some polymers",
    journal="J. Materials",
    volume="39",
    number="2",
    pages="261-265",
    doi="10.1/x(1)2",
    note="title from memory",
)


def keys_of(node):
    if isinstance(node, dict):
        return {key for one in node.values() for key in keys_of(one)}
    if isinstance(node, list):
        return {key for one in node for key in keys_of(one)}
    return {node}


@pytest.fixture(scope="module")
def settings():
    return make_study((6.0, 8.0, 10.0), (50.0, 75.0, 100.0)).settings


def test_sentence_and_bibtex_of_an_article():
    assert WORK.text == (
        "Lee, K.Y. and Pienkowski, D. (1998) Creep of some polymers. J. Materials 39(2), 261-265. "
        "https://doi.org/10.1/x(1)2 (title from memory)"
    )
    assert WORK.cited == "Lee and Pienkowski, 1998"
    assert as_bibtex([WORK]) == (
        "@article{lee1998,\n  author = {Lee, K.Y. and Pienkowski, D.},\n  year = {1998},\n"
        "  title = {{Creep of some polymers}},\n  journal = {J. Materials},\n  volume = {39},\n"
        "  number = {2},\n  pages = {261--265},\n  doi = {10.1/x(1)2},\n"
        "  note = {title from memory}\n}\n"
    )


def test_works_without_a_year_a_title_or_all_authors():
    thesis = Reference(key="m", authors=("Machado, M.F.",), title="A work", school="A University")
    assert thesis.text == "Machado, M.F. A work. PhD thesis, A University."
    assert thesis.cited == "Machado"
    untitled = Reference(
        key="g", authors=("Grupp, T.M.", OTHERS), year=2009, journal="A", pages="1-2"
    )
    assert untitled.text == "Grupp, T.M. et al. (2009) A, 1-2."
    assert untitled.cited == "Grupp et al., 2009"


@pytest.mark.parametrize("places", [{}, {"journal": "J. A", "school": "B"}])
def test_a_work_appeared_in_one_place(places):
    with pytest.raises(ValueError, match="reference a: authors and exactly one of"):
        Reference(key="a", authors=("A, B.",), title="Of nothing", **places)


@pytest.mark.parametrize("work", references().values(), ids=references())
def test_sentence_and_bibtex_of_each_record_have_all_of_it(work):
    bibtex = work.bibtex()
    values = [work.title, work.doi, work.journal, work.publisher, work.school, work.institution]
    assert all(value in work.text and value in bibtex for value in [*values, work.note])
    assert re.fullmatch(r"[a-z]+(\d{4}[a-z]?)?", work.key)
    assert str(work.year or "") == work.key.lstrip("abcdefghijklmnopqrstuvwxyz")[:4]
    assert bibtex.count("{") == bibtex.count("}")


def test_each_record_is_cited_and_each_key_has_a_record():
    data = page_data("citations")
    models = data["models"]["fe_knee"]
    parts = (data["implant"], data["gait"], data["recovery"], data["always"], data["creep_laws"])
    keys = keys_of([*parts, models["always"], *(part["sources"] for part in models["where"])])
    keys |= {work.key for law in WEAR_LAWS.values() for work in law.references}
    assert keys == set(references())


def test_works_of_a_run(settings):
    sources = cited_sources(settings)
    law = WEAR_LAWS[settings["wear"]["wear_law"]]
    assert {*cite("bei2003", "blankevoort1991"), *law.references} <= set(sources)
    assert sum(isinstance(source, str) for source in sources) > 0


def test_a_law_cites_records():
    with pytest.raises(TypeError, match=r"Other\.references: expected objects"):

        class Other(Archard):
            """A law with a sentence."""

            references: ClassVar[tuple[str, ...]] = ("Somebody (2026) A law.",)
