"""The finished quick study, which the tutorial reads: run once for all tests."""

from tests.workflow.conftest import finished, results  # noqa: F401
