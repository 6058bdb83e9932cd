"""What the header of a certificate says of a reduction.

The network that was searched is made of *forms*: each takes the place of a component of
the system, or of two forms that came before it.  How forms are proved to be sound is in
``docs/certificates.md``.

`RefusedError` has the reasons to refuse a certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection


class RefusedError(Exception):
    """A certificate does not prove what it claims, or is none.

    Parameters
    ----------
    reason : str
        The first thing that is wrong, for people.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def refuse_others(told: dict[str, Any], known: Collection[str], of: str) -> None:
    """Refuse a field that is not known: it may carry meaning."""
    for name in told:
        if name not in known:
            raise RefusedError(f"{of} has an unknown field {name[:40]!r}")


WORDS, STEPS = "words", "steps"
"""What forms keep: words and divergences, or each step with its letter."""

_OF_FORM = ("parts", "states", "initial", "labels", "transitions")
_MOST = 1 << 26  # states or transitions of a form


class Form(NamedTuple):
    """What takes the place of a component or of two forms."""

    parts: tuple[int, ...]  # components from 0 on, forms behind them
    n_states: int
    initial: int
    labels: tuple[str, ...]  # observable ones; the number behind them means silent
    n_transitions: int


class Reduction(NamedTuple):
    """The forms from which the searched network is made."""

    keeps: str  # WORDS or STEPS
    trimmed: bool  # whether components lost the transitions that no run can take
    forms: tuple[Form, ...]


def reduction_in(told: Any) -> Reduction | None:
    """Return what a header says of its reduction; None if there is none.

    Raises
    ------
    RefusedError
        It makes no sense.
    """
    if told is None:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("forms"), list):
        raise RefusedError("the reduction has no list of forms")
    if told.get("keeps") not in (WORDS, STEPS):
        raise RefusedError(f"a reduction keeps {WORDS!r} or {STEPS!r}")
    if not isinstance(told.get("trimmed"), bool):
        raise RefusedError("it is not said whether components were trimmed")
    refuse_others(told, Reduction._fields, "the reduction")
    forms = tuple(_form(form) for form in told["forms"])
    return Reduction(told["keeps"], told["trimmed"], forms)


def _form(told: Any) -> Form:
    if not isinstance(told, dict):
        raise RefusedError("a form is no object")
    refuse_others(told, _OF_FORM, "a form")
    parts: list[int] = _listed(told, "parts", int)
    if len(parts) not in (1, 2):
        raise RefusedError("a form takes the place of one or two others")
    labels: list[str] = _listed(told, "labels", str)
    if len(set(labels)) != len(labels):
        raise RefusedError("a form has a label twice")
    n_states = _count(told, "states")
    initial = _count(told, "initial")
    if initial >= n_states:
        raise RefusedError("a form has no initial state")
    n_transitions = _count(told, "transitions")
    return Form(tuple(parts), n_states, initial, tuple(labels), n_transitions)


def _listed(told: dict[str, Any], name: str, kind: type) -> list[Any]:
    value = told.get(name)
    if not isinstance(value, list) or any(type(entry) is not kind for entry in value):
        raise RefusedError(f"{name} of a form are no list of what is expected")
    return value


def _count(told: dict[str, Any], name: str) -> int:
    value = told.get(name)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise RefusedError(f"{name} of a form is no number, or too large")
    return value
