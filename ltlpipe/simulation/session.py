"""Commands of a simulation, one per line, and its description in words."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import counted, nearest, quoted_name, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.simulation.simulation import Simulation
    from ltlpipe.verdict.lasso import LassoStep

MOST_VALUES = 60
"""Components or variables of a state that are shown by default."""

MOST_LISTED = 40
"""Enabled steps that are listed by default."""

_MOST_MOVES = 8  # of a step
_MOST_LETTERS = 400  # of a residual formula


def moves_text(step: LassoStep) -> str:
    """Describe the moves of a step, with source and target."""
    shown = [
        f"{visible(name)}: {visible(str(old))} -> {visible(str(new))}"
        for name, old, new in step.moves[:_MOST_MOVES]
    ]
    left = len(step.moves) - _MOST_MOVES
    return ", ".join(shown) + (f", and {left} more" if left > 0 else "")


def value_text(value: Any) -> str:
    """Return the state of a component, or a value."""
    return quoted_name(str(value))


def state_text(simulation: Simulation, *, most: int | None = MOST_VALUES) -> str:
    """Return the state in one line."""
    values = [*simulation.state.items()]
    shown = [
        f"{quoted_name(name)}={value_text(value)}" for name, value in values[:most]
    ]
    text = " ".join(shown)
    left = len(values) - len(shown)
    return f"{text} ... ({left:,} more; state prints all)" if left else text


def residual_text(simulation: Simulation) -> str:
    """Describe the residual formula."""
    text = visible(str(simulation.residual))
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]} ..."


def violation_text(simulation: Simulation) -> str | None:
    """Return since when the formula cannot be satisfied any more."""
    number = simulation.bad_prefix
    if number is None:
        return None
    return (
        f"violated by the first {counted(number, 'step')}: no continuation satisfies it"
    )


def lasso_text(simulation: Simulation) -> str | None:
    """Describe the position of the run on its lasso, or off it."""
    lengths = simulation.lasso_length
    if lengths is None:
        return None
    if not simulation.on_lasso:
        return f"off the lasso since step {simulation.n_on_lasso + 1:,}"
    step = simulation.next_on_lasso
    if step is None:
        return "at the end of the lasso"
    prefix, cycle = lengths
    taken = simulation.n_steps
    part = f"prefix of {prefix:,}"
    number = taken + 1
    if taken >= prefix:
        number = (taken - prefix) % cycle + 1
        part = f"cycle of {cycle:,}"
    return f"on the lasso; next is {visible(step.action)}, step {number:,} of a {part}"


def mark_of(step: LassoStep, expected: LassoStep | None) -> str:
    """Return the marks of an enabled step.

    They are ``>`` if the lasso continues with it, ``*`` if a proposition holds.
    """
    return (">" if step == expected else " ") + ("*" if step.holds else " ")


def nothing_text(simulation: Simulation) -> str | None:
    """Describe why no steps are listed, or how many more there are."""
    if simulation.is_deadlock:
        lacks = getattr(simulation.system, "lacks", None)
        if lacks is not None:
            return f"no successors are known: {lacks}"
        after = ", and repeats itself for ever" if simulation.enabled else ""
        return f"deadlock: the state has no successors{after}"
    if not simulation.enabled:
        name = quoted_name(simulation.name_filter)
        return f"no enabled step is like {name}: filter lists all again"
    return None


def enabled_lines(
    simulation: Simulation, *, most: int | None = MOST_LISTED
) -> list[str]:
    """Return the enabled steps, numbered from 1."""
    steps = simulation.enabled
    expected = simulation.next_on_lasso
    about = nothing_text(simulation)
    lines = [] if about is None else [about]
    names = [visible(step.action) for step in steps[:most]]
    width = max(map(len, names), default=0)
    for number, (name, step) in enumerate(zip(names, steps, strict=False), start=1):
        mark = mark_of(step, expected)
        lines.append(f"{number:4} {mark} {name:{width}}  {moves_text(step)}".rstrip())
    left = len(steps) - len(names)
    if left or simulation.has_more:
        more = f"{left:,} more" if left else "more"
        if left and simulation.has_more:
            more = f"more than {left:,} more"
        lines.append(
            f"     ... {more}: filter TEXT lists those with TEXT in their names"
        )
    return lines


def overview(simulation: Simulation) -> str:
    """Describe the state, the residual formula, and the enabled steps."""
    lines = [f"after {counted(simulation.n_steps, 'step')}: {state_text(simulation)}"]
    if simulation.accepting:
        names = " ".join(map(quoted_name, simulation.accepting))
        lines.append(f"accepting: {names}")
    if simulation.formula is not None:
        lines.append(f"left: {residual_text(simulation)}")
    about: Iterable[str | None] = violation_text(simulation), lasso_text(simulation)
    lines += filter(None, about)
    return "\n".join([*lines, *enabled_lines(simulation)])


def history_lines(simulation: Simulation) -> list[str]:
    """Return the steps up to here, numbered from 1; ``!`` marks the bad prefix."""
    lines = []
    for number, step in enumerate(simulation.history, start=1):
        bad = "!" if number == simulation.bad_prefix else " "
        mark = bad + ("*" if step.holds else " ")
        lines.append(f"{number:4} {mark} {visible(step.action)}  {moves_text(step)}")
    return [line.rstrip() for line in lines] or ["no steps yet"]


HELP = """\
NUMBER, or an action   take an enabled step, by its number or if it is the only one
step ACTION            the same, for an action with the name of a command
next [N]               take the next steps of the lasso
rejoin                 go back to where the run has left the lasso
undo [N], redo [N]     undo and redo steps
goto N                 go to the state after N steps of the run
goto NAME=VALUE ...    take a shortest path to a state with these values or local states
random [N] [SEED]      take steps at random
filter [TEXT]          list only steps with TEXT in their names; or all again
enabled, state         print all of them
history, left          print the steps up to here, or what is left of the formula
save FILE              write the run as JSON, for --lasso
help, quit"""


class Reply(NamedTuple):
    """The output of a command."""

    note: str = ""
    is_elsewhere: bool = False  # there may be another state to show
    ends: bool = False


class Session:
    """Performs commands on a simulation."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self._commands: dict[str, Callable[[str], Reply | Job[Reply]]] = {
            "step": self._step,
            "next": self._next,
            "undo": lambda rest: self._turned(simulation.undo, _count(rest, "undo")),
            "redo": lambda rest: self._turned(simulation.redo, _count(rest, "redo")),
            "goto": self._goto,
            "random": self._random,
            "filter": self._filter,
            "save": self._save,
        }
        self._bare: dict[str, Callable[[], Reply]] = {  # they take nothing
            "rejoin": lambda: self._turned(simulation.rejoin),
            "enabled": lambda: _lines(enabled_lines(simulation, most=None)),
            "state": self._state,
            "history": lambda: _lines(history_lines(simulation)),
            "left": self._left,
            "help": lambda: Reply(HELP),
            "quit": lambda: Reply(ends=True),
            "exit": lambda: Reply(ends=True),
        }

    def perform(self, line: str) -> Job[Reply]:
        """Perform a command.

        Raises
        ------
        LtlpipeError
            It cannot be done; nothing has changed.
        """
        words = line.split(maxsplit=1)
        if not words or words[0].startswith("#"):
            return Reply()
        name, rest = words[0], words[1].strip() if len(words) > 1 else ""
        if name.isdecimal() and not rest:
            return self._numbered(name)
        if name in self._bare:
            if rest:
                shown = "quit" if name == "exit" else name
                raise UnsupportedError(f"{shown}: expected nothing after it")
            return self._bare[name]()
        if name in self._commands:
            reply = self._commands[name](rest)
            return reply if isinstance(reply, Reply) else (yield from reply)
        action = line.strip()
        if any(step.action == action for step in self.simulation.enabled):
            return self._step(action)
        raise UnsupportedError(
            f"{quoted_name(action)} is neither a command nor an enabled step"
            + nearest(name, [*self._commands, *self._bare, *self._actions()])
            + " (help lists the commands)"
        )

    def _actions(self) -> list[str]:
        return [step.action for step in self.simulation.enabled]

    def _numbered(self, text: str) -> Reply:
        n_steps = len(self.simulation.enabled)
        if not 1 <= (number := _number(text)) <= n_steps:
            there = f"1 to {n_steps}" if n_steps else "none"
            raise UnsupportedError(f"no enabled step has the number {text}: {there}")
        self.simulation.step(number - 1)
        return self._moved()

    def _moved(self) -> Reply:
        """Say what step was taken last."""
        number = self.simulation.n_steps
        step = self.simulation.history_step(number - 1)
        action = quoted_name(step.action)
        moves = moves_text(step)
        return Reply(f"step {number:,}: {action}  {moves}".rstrip(), is_elsewhere=True)

    def _step(self, rest: str) -> Reply:
        if not rest:
            raise UnsupportedError("step: expected an action")
        self.simulation.step(_unquoted(rest))
        return self._moved()

    def _next(self, rest: str) -> Reply:
        self.simulation.follow(n := _count(rest, "next"))
        return self._moved() if n else Reply(is_elsewhere=True)

    def _turned(self, change: Callable[..., Any], *numbers: int) -> Reply:
        """Do what changes the state without a step."""
        change(*numbers)
        return Reply(is_elsewhere=True)

    def _goto(self, rest: str) -> Job[Reply]:
        if rest.isdecimal():
            self.simulation.goto(_number(rest))
            return Reply(is_elsewhere=True)
        values = self._values(rest)
        n_steps = yield from self.simulation.goto_job(values)
        steps = counted(n_steps, "step")
        return Reply(f"{steps} to the nearest such state", is_elsewhere=True)

    def _values(self, text: str) -> dict[str, str]:
        """Return the names and values of a state; either may have a sign in it."""
        known = self.simulation.state
        values = {}
        for part in _split(text):
            names = [part[:k] for k, sign in enumerate(part) if sign == "="]
            if not names:
                break
            name = next((n for n in names if n in known), names[0])
            values[name] = part[len(name) + 1 :]
        else:
            if values:
                return values
        raise UnsupportedError(
            "goto: expected the number of a state, or NAME=VALUE with the name of a "
            "component or variable"
        )

    def _random(self, rest: str) -> Job[Reply]:
        numbers = [_number(word, "random") for word in rest.split()]
        if len(numbers) > 2:
            raise UnsupportedError("random: expected a number of steps, and a seed")
        n = numbers[0] if numbers else 1
        seed = numbers[1] if len(numbers) > 1 else None
        taken = yield from self.simulation.random_job(n, seed=seed)
        if n == taken == 1:
            return self._moved()
        steps = counted(taken, "step")
        end = ""
        if taken < n:
            lacking = getattr(self.simulation.system, "lacks", None) is not None
            end = ", then no successors are known" if lacking else ", then a deadlock"
        return Reply(f"{steps} at random{end}", is_elsewhere=True)

    def _filter(self, rest: str) -> Reply:
        self.simulation.name_filter = _unquoted(rest)
        return _lines(enabled_lines(self.simulation))

    def _state(self) -> Reply:
        return _lines(
            f"{quoted_name(name)}={value_text(value)}"
            for name, value in self.simulation.state.items()
        )

    def _left(self) -> Reply:
        if self.simulation.formula is None:
            raise UnsupportedError("there is no formula: add one with -f")
        return Reply(visible(str(self.simulation.residual)))

    def _save(self, rest: str) -> Reply:
        if not rest:
            raise UnsupportedError("save: expected a file")
        file = _unquoted(rest)
        self.simulation.save(file)
        steps = counted(self.simulation.n_steps, "step")
        return Reply(f"{steps} written to {quoted_name(file)}")


def _lines(lines: Iterable[str]) -> Reply:
    return Reply("\n".join(lines))


def _number(text: str, command: str = "") -> int:
    """Return a typed number."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        named = f"{command}: " if command else ""
        raise UnsupportedError(f"{named}expected a number, not {quoted_name(text)}")
    return int(text)


def _count(rest: str, command: str) -> int:
    """Return how many steps a command is about: one if none are named."""
    return _number(rest or "1", command)


def _unquoted(text: str) -> str:
    """Return a name that may be quoted, as names are shown."""
    if text.startswith('"'):
        with suppress(ValueError):
            found = json.loads(text)
            if isinstance(found, str):
                return found
    return text


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UnsupportedError(f"goto: {error}") from None
