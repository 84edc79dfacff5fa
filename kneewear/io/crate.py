"""Archives that others can read: files with metadata of RO-Crate 1.1 and Process Run Crate 0.5."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kneewear.errors import InputDataError
from kneewear.io.result_files import atomic_path

if TYPE_CHECKING:  # a third of a second that other commands need not wait
    from rocrate.rocrate import ROCrate

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
METADATA = "ro-crate-metadata.json"
# Earliest date that a zip file can hold: equal contents are equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
# The context of RO-Crate 1.1 has no word for it.
_TERMS = {"sha256": "http://schema.org/sha256"}
# Media types that not every version of Python knows.
_FORMATS = {".yaml": "application/yaml"}
_NO_LICENSE = {
    "@id": "#license",
    "name": "No licence",
    "description": "All rights are reserved: ask who handed on this archive before you reuse it.",
}


@dataclass(frozen=True)
class RunDescription:
    """Metadata of files that a program wrote in one run.

    Parameters
    ----------
    name, description : str
        Title and contents of the archive.
    program, version : str
        Program that wrote the files.
    end : datetime
        When the run ended.
    page : str
        File to read first, if the archive contains it.
    settings, packages : sequence of str
        Files that the run was given, and files with the versions of the packages it used.
    inputs : mapping of str to str
        SHA-256 of further files that the run read, which the archive does not contain.
    license : str
        Identifier of SPDX or address of a licence; empty for none, which reserves all rights.
    authors : sequence of str
        Names of the persons who ran the program.
    publisher : str
        Name of the organisation that hands on the archive.
    """

    name: str
    description: str
    program: str
    version: str
    end: datetime
    page: str
    settings: Sequence[str] = ()
    packages: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    license: str = ""
    authors: Sequence[str] = ()
    publisher: str = ""


def save_crate(contents: Mapping[str, bytes], run: RunDescription, path: str | Path) -> None:
    """Write files and their metadata into a zip file; equal contents are equal files.

    Raises InputDataError if the licence is neither an identifier of SPDX nor an address.
    """
    metadata = json.dumps(_metadata(contents, run), indent=1, ensure_ascii=False)
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as packed:
        for name, content in {**contents, METADATA: metadata.encode()}.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)


def license_properties(license_name: str) -> dict[str, str]:
    """Address, name and perhaps description of a licence, from an identifier of SPDX or an address.

    Raises InputDataError if it is neither.
    """
    from packaging.licenses import (  # noqa: PLC0415
        InvalidLicenseExpression,
        canonicalize_license_expression,
    )

    if not license_name:
        return dict(_NO_LICENSE)
    if license_name.startswith(("https://", "http://")):
        return {"@id": license_name, "name": license_name}
    try:
        name = str(canonicalize_license_expression(license_name))
    except InvalidLicenseExpression:
        name = ""
    if not name or " " in name or name.startswith("LicenseRef-"):
        raise InputDataError(
            "option --license",
            repr(license_name),
            "one identifier of SPDX, such as CC-BY-4.0, or an address that begins with https://",
            "Look it up on https://spdx.org/licenses, or leave the option out.",
        )
    return {"@id": f"https://spdx.org/licenses/{name}", "name": name}


def _metadata(contents: Mapping[str, bytes], run: RunDescription) -> dict[str, Any]:
    """Metadata of files, as JSON-LD."""
    from rocrate.rocrate import ROCrate  # noqa: PLC0415

    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms.update(_TERMS)
    files = {name: _add_file(crate, name, content) for name, content in contents.items()}
    publishers = filter(None, [run.publisher])
    publisher = [_add(crate, "#publisher", "Organization", name=name) for name in publishers]
    authors = [
        _add(crate, f"#author-{number}", "Person", name=name, affiliation=publisher)
        for number, name in enumerate(run.authors, 1)
    ]
    program = _add(
        crate,
        f"#{run.program}",
        "SoftwareApplication",
        name=run.program,
        version=run.version,
        softwareRequirements=[files[name] for name in run.packages],
    )
    inputs = [
        _add(crate, f"#input-{number}", "CreativeWork", name=name, sha256=digest)
        for number, (name, digest) in enumerate(run.inputs.items(), 1)
    ]
    action = _add(
        crate,
        "#run",
        "CreateAction",
        name=f"Run of {run.program} {run.version}",
        description=f"{run.program} {run.version} computed {run.name}.",
        endTime=run.end.isoformat(timespec="seconds"),
        agent=authors,
        instrument=program,
        object=[*(files[name] for name in run.settings), *inputs],
        result=[file for name, file in files.items() if name not in (*run.settings, *run.packages)],
    )
    terms = license_properties(run.license)
    _set(
        crate.root_dataset,
        name=run.name,
        description=run.description,
        datePublished=run.end.date().isoformat(),
        license=_add(crate, terms.pop("@id"), "CreativeWork", **terms),
        conformsTo=_add(crate, PROFILE, "CreativeWork", name="Process Run Crate", version="0.5"),
        mainEntity=files.get(run.page),
        mentions=action,
        author=authors,
        publisher=publisher,
    )
    described: dict[str, Any] = crate.metadata.generate()
    return described


def _add_file(crate: ROCrate, name: str, content: bytes) -> Any:
    """Add a file of the archive."""
    properties = {
        "contentSize": str(len(content)),
        "encodingFormat": _FORMATS.get(Path(name).suffix)
        or mimetypes.guess_type(name)[0]
        or "application/octet-stream",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return crate.add_file(dest_path=name, properties=properties)


def _add(crate: ROCrate, identifier: str, type_: str, **properties: Any) -> Any:
    """Add a thing that is no file, without the properties that are empty."""
    from rocrate.model.contextentity import ContextEntity  # noqa: PLC0415

    added = crate.add(ContextEntity(crate, identifier, properties={"@type": type_}))
    _set(added, **properties)
    return added


def _set(entity: Any, **properties: Any) -> None:
    """Set properties but for empty ones; a list of one value is that value."""
    for name, value in properties.items():
        if value:
            entity[name] = value[0] if isinstance(value, list) and len(value) == 1 else value
