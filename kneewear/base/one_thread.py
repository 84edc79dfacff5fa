"""Linear algebra on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Given = ParamSpec("Given")
Found = TypeVar("Found")


def on_one_thread(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Run a function with one thread of BLAS and LAPACK, whatever the process allows.

    Factors and products of matrices differ in their last digits between numbers of threads. Jobs of
    a study have one; a program that calls the API has as many as the machine has cores.
    """

    @wraps(function)
    def limited(*arguments: Given.args, **options: Given.kwargs) -> Found:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*arguments, **options)

    return limited


@cache
def _libraries() -> ThreadpoolController:
    """Libraries of linear algebra of this process; finding them takes longer than limiting them."""
    return ThreadpoolController()
