"""How options are declared: one by one, and in groups that several commands take."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from typing import Any

import typer

DATA, MODEL, STOP, OUTPUT = "Data", "Model", "When to stop", "Output"
"""The panels of ``--help``."""


def option(names: str, metavar: str | None, help: str, panel: str | None = None) -> Any:
    """An option: its names with spaces between them, what stands for its value (a switch has none), and what it does."""
    return typer.Option(*names.split(), metavar=metavar, help=help, rich_help_panel=panel, show_default=False)


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Spell out, for typer, the parameters of a command that are groups: dataclasses, whose fields become its options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Place:
    ...     street: str = "Main"
    >>> @flat
    ... def go(who: str, place: Place) -> None:
    ...     print(who, place)
    >>> list(inspect.signature(go).parameters)
    ['who', 'street']
    >>> go(who="Ann", street="High")
    Ann Place(street='High')
    """
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in parameters.items() if is_dataclass(one.annotation)}
    fields = {name: inspect.signature(group).parameters for name, group in groups.items()}
    spelled = [
        own.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in parameters.items()
        for own in (fields[name].values() if name in groups else [one])
    ]

    @wraps(command)
    def call(**values: Any) -> None:
        made = {name: group(**{own: values.pop(own) for own in fields[name]}) for name, group in groups.items()}
        command(**values, **made)

    call.__signature__ = inspect.Signature(spelled)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in spelled}
    return call
