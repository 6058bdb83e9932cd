"""Options as users give them: by their names, for one command.

`takes_options` makes parameters of them, with their documentation.
"""

from __future__ import annotations

import inspect
import shlex
import textwrap
from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ltlpipe.logic.history import Dialect
from ltlpipe.question.conditions import flag_of
from ltlpipe.question.options import (
    CHOICES,
    DEFAULTS,
    FINITE,
    OPTIONS,
    Options,
)
from ltlpipe.runtime.names import PARAMETERS, nearest, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ltlpipe.question.options import Option
    from ltlpipe.runtime.jobs import Limits

_PLACE = "\n**options\n"
_NAMES: dict[Any, str] = {tuple: "sequence of str", object: "spot.twa_graph or path"}

Function = TypeVar("Function", bound="Callable[..., Any]")


def options_of(command: str) -> dict[str, Option]:
    """Return the options that mean something for a command."""
    defaults, choices = DEFAULTS.get(command, {}), CHOICES.get(command, {})
    return {
        name: replace(
            option,
            default=defaults.get(name, option.default),
            choices=choices.get(name, option.choices),
        )
        for name, option in OPTIONS.items()
        if command in option.commands
    }


DEFAULT = "default"
"""The configuration without options."""

_APART = ("timeout", "memory", "cpu_time", "max_states", "certificate")
"""Options that are no part of a configuration: results have columns for them."""

READING = (
    *("format", "alphabet", "initial", "mealy"),
    *("define", "include", "processes"),
)
"""Options about files: they have no effect on a system in memory."""

RUN_OPTIONS = (
    *("deadlock", "fairness", "fair_sets", "network_acceptance"),
    *("semantics", "unknown", "past"),
)
"""Options that determine the runs of a system, which of them count, and their words."""

QUESTION_OPTIONS = (*RUN_OPTIONS, *READING, "constraint")
"""Options that make another question: answers under two of their values may differ."""


def manner_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading a system.

    The semantics, which are about runs, too, say what a file in HOA is.
    """
    return {name: given[name] for name in (*READING, "semantics") if name in given}


def manner_told(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same of options out of a file, which may hold anything.

    Raises
    ------
    UnsupportedError
        A value is none of its option.
    """
    return {name: OPTIONS[name].meant(name, v) for name, v in manner_of(given).items()}


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
    names = [name for name, option in OPTIONS.items() if option.group == "limits"]
    return Options(**{name: given[name] for name in names if name in given}).limits


def dialect_of(given: Mapping[str, Any]) -> Dialect:
    """Return how formulas are read, by options."""
    names = ("past", "semantics")
    return Options(**{name: given[name] for name in names if name in given}).dialect


def understood(given: Mapping[str, Any]) -> tuple[Options, Limits]:
    """Return the options by their names, and the limits.

    Raises
    ------
    UnsupportedError
        An option or combination is not supported.
    """
    options = Options(**given)
    return options, options.limits


def flags_of(given: Mapping[str, Any], known: Mapping[str, Option]) -> list[str]:
    """Return the flags, and their values, of the options that are not their defaults.

    Parameters
    ----------
    given : mapping
        Options by name.
    known : mapping
        The declarations of those that are told, in order.
    """
    flags = []
    for name, option in known.items():
        flag, value = f"--{flag_of(name)}", given.get(name, option.default)
        if value in (option.default, None):
            continue
        if value is False:
            flags.append(f"--no-{flag_of(name)}")
        elif value is True:
            flags.append(flag)
        else:
            parts = value if isinstance(value, (tuple, list)) else (value,)
            flags += [word for part in parts for word in (flag, _told(part))]
    return flags


def _told(value: Any) -> str:
    """Return a value as the command line has it; an automaton has no text."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "AUTOMATON" if hasattr(value, "acc") else str(value)


def configuration_of(given: Mapping[str, Any]) -> str:
    """Return how the command line spells options: sorted, without limits.

    Nothing but "default" if all are their defaults.

    Examples
    --------
    >>> configuration_of({"emptiness": "se05", "deadlock": "stutter", "timeout": 60})
    '--deadlock stutter --emptiness se05'
    """
    told = {n: o for n, o in sorted(OPTIONS.items()) if n not in _APART}
    return shlex.join(flags_of(given, told)) or DEFAULT


def options_in(configuration: str) -> dict[str, list[str]]:
    """Return the options of a configuration by name, with their values as texts.

    Words that are no option are left out.

    Examples
    --------
    >>> options_in("--fair-sets a,b --fair-sets c --no-lasso")
    {'fair_sets': ['a,b', 'c'], 'lasso': ['false']}
    """
    try:
        words = iter(shlex.split(configuration))
    except ValueError:  # the table of another tool
        return {}
    found: dict[str, list[str]] = {}
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        if word.startswith("--no-") and name not in OPTIONS:
            found[name.removeprefix("no_")] = ["false"]
        elif word.startswith("--") and name in OPTIONS:
            has_value = OPTIONS[name].kind is not bool
            value = next(words, "") if has_value else "true"
            found.setdefault(name, []).append(value)
    return found


def manner_in(configuration: str) -> dict[str, Any]:
    """Return the options for reading a system, out of a configuration.

    Examples
    --------
    >>> manner_in("--define N=3 --fairness weak --processes 9")
    {'define': ('N=3',), 'processes': 9}
    """
    given = {
        name: tuple(texts) if OPTIONS[name].kind is tuple else texts[-1]
        for name, texts in options_in(configuration).items()
    }
    return {name: OPTIONS[name].read(name, v) for name, v in manner_of(given).items()}


def dialect_in(configuration: str) -> Dialect:
    """Return how the formula of a configuration was read."""
    given = options_in(configuration)
    return Dialect(past="past" in given, finite=given.get("semantics") == [FINITE])


def takes_options(command: str) -> Callable[[Function], Function]:
    """Give a function the options of a command as parameters.

    It has to take ``**options``, which its docstring names, too: the declared options
    stand there afterwards, and in the signature.

    Parameters
    ----------
    command : str
        One of those of `ltlpipe.question.options`.

    Raises
    ------
    TypeError
        The function does not have such an option.
    """
    options = options_of(command)

    def decorated(function: Function) -> Function:
        own = inspect.signature(function).parameters.values()
        parameters = [p for p in own if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in parameters}
        added = {name: option for name, option in options.items() if name not in taken}
        known = [*taken, *added]

        @wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            for name in given:
                if name not in known:
                    raise TypeError(
                        f"{function.__name__}() has no parameter {name!r}"
                        + nearest(name, known)
                    )
            for name in CHOICES.get(command, {}).keys() & given.keys():
                options[name].meant(name, given[name])
            return function(*args, **given)

        parameters += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=_annotation(option),
            )
            for name, option in added.items()
        ]
        signature = inspect.signature(function).replace(parameters=parameters)
        called.__signature__ = signature  # type: ignore[attr-defined]
        if function.__doc__ is not None:  # there is none under -OO
            # Without indentation, as Python 3.13 stores docstrings itself.
            text = inspect.cleandoc(function.__doc__)
            called.__doc__ = text.replace(_PLACE, "\n" + documented(added), 1)
        return cast("Function", called)

    return decorated


def documented(options: dict[str, Option]) -> str:
    """Return the entries of options in a docstring's list of parameters."""
    return "".join(_entry(name, option) for name, option in options.items())


def described(option: Option) -> str:
    """Return the help of an option, as spelled in Python."""
    text = " ".join(part for part in (option.help, option.details) if part)
    return spelled(text, PARAMETERS)


@cache  # most options belong to several functions
def _entry(name: str, option: Option) -> str:
    kind = _NAMES.get(option.kind, option.kind.__name__)
    if option.default is None:
        kind += ", optional"
    text = described(option)
    if option.default not in (None, (), False, True):
        text += f" Default: {option.default}."
    indent = " " * 4
    wrapped = textwrap.fill(
        text,
        76,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,  # names of searches are resolved
    )
    return f"{name} : {kind}\n{wrapped}\n"


def _annotation(option: Option) -> str:
    kinds: dict[Any, str] = {tuple: "Sequence[str]", object: "Any"}
    kind = kinds.get(option.kind, option.kind.__name__)
    return f"{kind} | None" if option.default is None else kind
