"""Sources of the methods, laws and data a run has used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kneewear.report.sections import Table

BEI = (
    "Bei, Y. (2003) Dynamic simulation of knee joint contact during human movement. Dissertation, "
    "University of Florida."
)
ALWAYS = (
    ("Elastic foundation contact, and the study of thickness and mass", BEI),
    (
        "Elastic foundation of a thin layer",
        "Blankevoort, L., Kuiper, J.H., Huiskes, R. and Grootenboer, H.J. (1991) Articular contact "
        "in a three-dimensional model of the knee. J. Biomechanics 24, 1019-1031.",
    ),
    (
        "Surface lookup table",
        "Machado, M.F. A multibody approach to the contact dynamics: a knee joint application. "
        "Thesis, University of Minho.",
    ),
    (
        "Angles of the knee",
        "Grood, E.S. and Suntay, W.J. (1983) A joint coordinate system for the clinical "
        "description of three-dimensional motions. J. Biomechanical Engineering 105, 136-144.",
    ),
    (
        "Surfaces",
        "Piegl, L. and Tiller, W. (1997) The NURBS Book, 2nd edition. Springer.",
    ),
)
WEAR_LAWS = {
    "archard": (
        "Archard, J.F. (1953) Contact and rubbing of flat surfaces. J. Applied Physics 24, "
        "981-988.",
    ),
    "unified_theory": (
        "Wang, A. (2001) A unified theory of wear for ultra-high molecular weight polyethylene in "
        "multi-directional sliding. Wear 248, 38-47.",
        "Turell, M., Wang, A. and Bellare, A. (2003) Quantification of the effect of cross-path "
        "motion on the wear rate of ultra-high molecular weight polyethylene. Wear 255, "
        "1034-1039.",
    ),
    "directional_work": (
        "Schwenke, T. and Wimmer, M.A. (2013) Cross-shear in metal-on-polyethylene articulation "
        "of orthopaedic implants and its relationship to wear. Wear 301, 168-174.",
    ),
    "pressure_power": (
        "Vassiliou, K. and Unsworth, A. (2004) Is the wear factor in total joint replacements "
        "dependent on the nominal contact stress in ultra-high molecular weight polyethylene "
        "contacts? Proc. IMechE Part H 218, 101-107.",
    ),
    "cross_shear_and_pressure": (
        "Kang, L., Galvin, A.L., Fisher, J. and Jin, Z. (2009) Enhanced computational prediction "
        "of polyethylene wear in hip joints by incorporating cross-shear and contact pressure in "
        "addition to load and sliding distance. J. Biomechanics 42, 912-918.",
    ),
    "contact_area": (
        "Liu, F., Galvin, A., Jin, Z. and Fisher, J. (2011) A new formulation for the prediction "
        "of polyethylene wear in artificial hip joints. Proc. IMechE Part H 225, 16-24.",
        "Abdelgaied, A. et al. (2011) Computational wear prediction of artificial knee joints "
        "based on a new wear law and formulation. J. Biomechanics 44, 1108-1116.",
    ),
}
STRAIN_CREEP = (
    "Lee, K.Y. and Pienkowski, D. (1998) Compressive creep characteristics of extruded ultrahigh-"
    "molecular-weight polyethylene. J. Biomedical Materials Research 39, 261-265."
)
RECOVERY = (
    "Lee, K.Y. and Pienkowski, D. (1998) Viscoelastic recovery of creep-deformed ultra-high "
    "molecular weight polyethylene (UHMWPE). ASTM International, paper STP11908S."
)


def citations(study: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a run has used, and its source.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.

    Yields
    ------
    pair of str
        Use and reference; for files a user brought, the file instead of a reference.
    """
    wear = study["wear"]
    yield from ALWAYS
    law = wear["wear_law"]
    for source in WEAR_LAWS[law]:
        yield f"Wear law “{law.replace('_', ' ')}”", source
    yield "Creep law", STRAIN_CREEP if wear["creep_law"] == "strain" else BEI
    if wear["recovery_minutes"]:
        yield "Recovery of creep", RECOVERY
    yield from _data(study)
    for name, insert in study["report"]["retrievals"].items():
        yield f"Retrieved inserts: {name}", insert["source"]


def citation_table(study: Mapping[str, Any]) -> Table:
    """References of a run, each once."""
    by_source: dict[str, list[str]] = {}
    for use, source in citations(study):
        by_source.setdefault(source, []).append(use)
    rows = tuple(("; ".join(uses), source) for source, uses in by_source.items())
    return Table("Sources of the methods, laws and data of this run", ("For", "Source"), rows, True)


def _data(study: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Data files of the study; what they come from only their owner knows."""
    implant = study["implant"]
    if implant["source"] == "parametric":
        yield "Implant: built-in shape, calibrated on published results", BEI
    else:
        yield f"Implant: {implant['name']}", _of_file("its shape files")
    used = {name for shares in study["wear"]["lives"].values() for name in shares}
    for name in sorted(used):
        activity = study["activities"][name]
        if activity["source"] == "parametric":
            yield f"Activity {name}: built-in curves", BEI if name == "gait" else _of_file("none")
        else:
            yield f"Activity {name}", _of_file("its motion and load files")


def _of_file(files: str) -> str:
    if files == "none":
        return "Representative curves of this software; no measurement to cite."
    return f"The source of {files}, listed with their hashes under Provenance."
