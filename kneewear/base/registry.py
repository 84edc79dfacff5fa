"""Declarations by decorator, found by reading the package and imported when they are used.

A function with a decorator such as ``@figure("blocks", of="life")`` declares itself: nothing lists
it. Its name, its parameters and the arguments of the decorator are read from the syntax tree of its
module, so that names of figures and tables are known without importing what makes them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Declared:
    """A function that a decorator declares.

    Parameters
    ----------
    name : str
        First argument of the decorator, or the name of the function.
    module, function : str
        Where it is defined.
    required, optional : tuple of str
        Names of its parameters without and with a default.
    options : mapping
        Keyword arguments of the decorator, which are literals.
    """

    name: str
    module: str
    function: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    options: Mapping[str, Any]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Import the module, and call the function."""
        return getattr(import_module(self.module), self.function)(*arguments, **named)

    def draws_on(self, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments among some inputs by name; None where a required one is absent or None."""
        names = (*self.required, *self.optional)
        given = {name: inputs[name] for name in names if inputs.get(name) is not None}
        return given if given.keys() >= set(self.required) else None


@cache
def declared(decorator: str) -> Mapping[str, Declared]:
    """Functions of the package with a decorator, by their names in the order of their modules.

    Raises
    ------
    ValueError
        If two functions declare one name.
    """
    found: dict[str, Declared] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if f"@{decorator}" not in text:
            continue
        module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        for function in _declarations(ast.parse(text), module, decorator):
            if function.name in found:
                other = found[function.name].module
                raise ValueError(f"{function.name}: declared in {other} and in {module}")
            found[function.name] = function
    return MappingProxyType(found)


def _declarations(tree: ast.Module, module: str, decorator: str) -> Iterator[Declared]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            call = mark if isinstance(mark, ast.Call) else None
            named = call.func if call is not None else mark
            if not isinstance(named, ast.Name) or named.id != decorator:
                continue
            values = [ast.literal_eval(value) for value in call.args] if call is not None else []
            options = {
                str(keyword.arg): ast.literal_eval(keyword.value)
                for keyword in (call.keywords if call is not None else ())
            }
            arguments = [argument.arg for argument in node.args.args]
            count = len(arguments) - len(node.args.defaults)
            yield Declared(
                values[0] if values else node.name,
                module,
                node.name,
                tuple(arguments[:count]),
                tuple(arguments[count:]),
                MappingProxyType(options),
            )
