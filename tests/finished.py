"""Small folders of finished studies."""

from __future__ import annotations

import hashlib

from kneewear.base.findings import Reported
from kneewear.errors import Finding
from kneewear.io.documents import save_json
from kneewear.io.result_files import atomic_path

KEY_RESULT = {
    "name": "wear_volume",
    "label": "Wear volume",
    "value": 12.5,
    "unit": "mm3",
    "of": {},
    "form": "3",
    "low": None,
    "high": None,
    "meaning": "",
    "limit": None,
    "null_model": None,
}
PROVENANCE = {
    "versions": {"kneewear": "1.0.0", "python": "3.11.0", "numpy": "2.0", "pymoo": "not installed"},
    "inputs": {"data/my insert.stl": "0f" * 32},
    "settings": {"study": "newer", "seed": 1},
    "seed": 1,
}


def write_finished(folder, findings=0, page="wear"):
    """Write a finished study with a page, a table, a figure and a contact history.

    Comparisons have no provenance.
    """
    for name in ("report", "tables/.digests", "figures/results", "simulation"):
        (folder / name).mkdir(parents=True)
    summary = {
        "study": folder.name,
        "page": page,
        "heading": "Wear",
        "subject": "an <implant>",
        "version": "0.1.0",
        "key_results": [KEY_RESULT],
        "named_values": [],
        "tables": [],
        "findings": [Reported(Finding("one", "warn", "", "found", "", "")).record()] * findings,
    }
    save_json(summary, folder / "report" / "summary.json")
    (folder / "report" / "index.html").write_text("<p>page</p>", encoding="utf-8")
    (folder / "tables" / "cases.csv").write_text("a\n1\n", encoding="utf-8")
    digest = hashlib.sha256((folder / "tables" / "cases.csv").read_bytes()).hexdigest()
    (folder / "tables" / ".digests" / "cases.csv.sha256").write_text(digest, encoding="utf-8")
    (folder / "figures" / "results" / "wear é.svg").write_text("<svg/>", encoding="utf-8")
    with atomic_path(folder / "simulation" / "b0.nc") as temporary:
        temporary.write_bytes(bytes(1000))
    if page != "comparison":
        save_json(PROVENANCE, folder / "provenance.json")
    return folder
