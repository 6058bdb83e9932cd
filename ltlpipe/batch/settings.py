"""Options of single tasks as text: cells of a task table, values of a grid.

A grid is written ``emptiness=se05,couvreur99 acceptance=ba,tgba``: the values of
an option have commas between, and a value that is a list itself has ``+`` between
(``reduce=none,alphabet+ample``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from ltlpipe.question.given_options import options_of, renamed
from ltlpipe.question.option import KINDS, SOLVE, flag_of
from ltlpipe.question.options import OPTIONS, Options
from ltlpipe.runtime.arguments import ANY, TEXT, expect, several, wrong_kind
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

GRID_PART = re.compile(r"[A-Za-z][\w-]*=")
"""The beginning of one option of a grid."""

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def _truth(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError
    return text.lower() in _TRUE


def _whole(text: str) -> int:
    """Return a whole number; pandas writes 3.0 for it beside missing ones."""
    number = float(text)
    if not number.is_integer():
        raise ValueError
    return int(text) if text.lstrip("+-").isdecimal() else int(number)


def _sets(text: str) -> tuple[str, ...]:
    """Return sets of actions: commas within a set, semicolons between sets."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


_PARSERS: dict[type, Callable[[str], Any]] = {
    str: str,
    float: float,
    int: _whole,
    bool: _truth,
    tuple: _sets,
    object: str,
}
_TOGETHER_ONLY = ("ndfs_stack_test", "fair_sets", "swarm", "symmetric")
"""Options that mean nothing without another one."""


def setting_name(name: str) -> str:
    """Return the option of a column or a flag; refuse unknown ones."""
    expect(TEXT, option=name)
    plain = name.strip().lower().lstrip("-").replace("-", "_")
    (plain,) = renamed({plain: None})
    known = options_of(SOLVE)
    if plain not in known:
        listed = ", ".join(known)
        raise UnsupportedError(f"{name!r} is not an option; expected one of {listed}")
    return plain


def setting_value(name: str, text: str) -> Any:
    """Parse the value of an option; refuse other texts."""
    kind = OPTIONS[name].kind
    try:
        value = _PARSERS[kind](text.strip())
    except ValueError:
        expected = KINDS[kind]
        message = f"{flag_of(name)} {text!r}: expected {expected}"
        raise UnsupportedError(message) from None
    if name not in _TOGETHER_ONLY:
        Options(
            **{name: value}
        )  # refuses values that are wrong whatever the other options
    return OPTIONS[name].meant(name, value)


def parse_grid(parts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each option of a grid, each once.

    Each part is ``option=value,value``; one text may contain several.  Unknown options,
    duplicates and wrong values are refused.
    """
    grid: dict[str, list[Any]] = {}
    for part in (word for text in parts for word in text.split()):
        name, found, texts = part.partition("=")
        if not found or not all(texts.split(",")):
            raise UnsupportedError(f"--grid={part!r}: expected option=value,value")
        name = setting_name(name)
        if name in grid:
            raise UnsupportedError(f"--grid: {name} is given twice")
        plain = [text.replace("+", ",") for text in texts.split(",")]
        values = [setting_value(name, text) for text in plain]
        grid[name] = list(dict.fromkeys(values))
    return grid


def grid_of(given: Mapping[str, Iterable[Any]] | str | None) -> dict[str, list[Any]]:
    """Return the grid for the parameter `grid` of `ltlpipe.solve`.

    Raises
    ------
    TypeError, UnsupportedError
        It is something else; names the parameter.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        return parse_grid([given])
    if not isinstance(given, Mapping):
        raise wrong_kind("grid", "values by option, or option=value,value", given)
    return {
        setting_name(name): several(ANY, values, f"grid[{name!r}]")
        for name, values in given.items()
    }


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every choice of one value for each option of a grid, in order.

    Examples
    --------
    >>> combinations({"emptiness": ["se05", "gv04"], "seed": [1]})
    [{'emptiness': 'se05', 'seed': 1}, {'emptiness': 'gv04', 'seed': 1}]
    """
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
