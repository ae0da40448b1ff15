"""Groups of options: a dataclass whose fields are options, declared once and taken by several commands."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Spell out, for typer, the parameters of a command that are groups: their fields become its options.

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
    groups: dict[str, Any] = {}
    spelled: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            spelled += [_parameter(one.name, one.default, one.type) for one in fields(parameter.annotation)]
        else:
            spelled.append(_parameter(name, parameter.default, parameter.annotation))

    @wraps(command)
    def call(**values: Any) -> None:
        made = {
            name: group(**{one.name: values.pop(one.name) for one in fields(group) if one.name in values})
            for name, group in groups.items()
        }
        command(**values, **made)

    call.__signature__ = inspect.Signature(spelled)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in spelled}
    return call


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=annotation,
    )
