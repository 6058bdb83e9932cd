"""Options as users give them: by their names, former ones too, for one command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.question.options import DEFAULTS, NEVER, OLD_NAMES, OPTIONS, Options
from ltlpipe.runtime.errors import warn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ltlpipe.question.option import Option
    from ltlpipe.runtime.jobs import Limits


def options_of(command: str) -> dict[str, Option]:
    """Return the options that mean something for a command."""
    defaults = DEFAULTS.get(command, {})
    return {
        name: replace(option, default=defaults.get(name, option.default))
        for name, option in OPTIONS.items()
        if command in option.commands
    }


def renamed(given: Mapping[str, Any], known: Collection[str] = ()) -> dict[str, Any]:
    """Return options under the names of this version; warn of earlier ones.

    Names in `known` are current ones; an old name is only replaced by one of `known`.
    """
    named = {}
    for name, value in given.items():
        now = OLD_NAMES.get(name)
        if now is not None and name not in known and (not known or now in known):
            if name == "strict":
                value = "error" if value else NEVER
            warn(f"{name} is called {now} now", DeprecationWarning)
            name = now
        named[name] = value
    return named


READING = ("format", "alphabet")
"""Options about files: they have no effect on a system in memory."""

_LIMITS = ("timeout", "cpu_time", "memory", "max_states")

RUN_OPTIONS = (
    *("deadlock", "fairness", "fair_sets", "network_acceptance"),
    *("semantics", "unknown"),
)
"""Options that determine the runs of a system, which of them count, and their words."""

QUESTION_OPTIONS = (*RUN_OPTIONS, *READING, "constraint")
"""Options that make another question: answers under two of their values may differ."""


def manner_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading a system."""
    return {name: given[name] for name in READING if name in given}


def of_question(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other options, for a system that has been read."""
    return {name: value for name, value in given.items() if name not in READING}


def limits_of(given: Mapping[str, Any]) -> Limits:
    """Return the limits among options.

    Raises
    ------
    UnsupportedError
        One is no limit.
    """
    return Options(**{name: given[name] for name in _LIMITS if name in given}).limits


def understood(given: Mapping[str, Any]) -> tuple[Options, Limits]:
    """Return the options by their names, and the limits.

    Raises
    ------
    UnsupportedError
        An option or combination is not supported.
    """
    options = Options(**given)
    return options, options.limits
