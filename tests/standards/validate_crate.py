"""Problems that roc-validator finds in crates, without a network; run with .venv/standards.

    python validate_crate.py CACHE CRATE...

Prints a list of [severity, check, entity] for each crate, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from requests import Request
from requests_cache import CachedRequest, CachedResponse, CachedSession
from rocrate_validator import models, services

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "process-run-crate-0.5"  # extends that of RO-Crate 1.1


def fill_cache(cache):
    """Put the context into the cache of the validator, which takes it for downloaded."""
    session = CachedSession(cache, backend="sqlite", expire_after=-1)
    request = session.prepare_request(Request("GET", CONTEXT))
    session.cache.save_response(
        CachedResponse(
            status_code=200,
            url=CONTEXT,
            headers={"Content-Type": "application/ld+json"},
            content=Path(__file__).with_name("ro_crate_context.json").read_bytes(),
            request=CachedRequest.from_request(request),
        )
    )


def problems(crate, cache):
    """Problems of a crate, required and recommended."""
    settings = services.ValidationSettings(
        rocrate_uri=crate,
        profile_identifier=PROFILE,
        requirement_severity=models.Severity.RECOMMENDED,
        offline=True,
        cache_path=cache,
    )
    result = services.validate(settings)
    return [
        [issue.severity.name, issue.check.identifier, str(issue.violatingEntity)]
        for issue in result.get_issues()
    ]


if __name__ == "__main__":
    fill_cache(sys.argv[1])
    json.dump([problems(crate, sys.argv[1]) for crate in sys.argv[2:]], sys.stdout)
