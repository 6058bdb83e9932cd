"""Commands of a simulation, one per line."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.errors import (
    UnsupportedError,
    counted,
    nearest,
    quoted_name,
    visible,
)
from ltlpipe.simulation import descriptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.simulation.simulation import Simulation

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
            "enabled": lambda: _lines(
                descriptions.enabled_lines(simulation, most=None)
            ),
            "state": self._state,
            "history": lambda: _lines(descriptions.history_lines(simulation)),
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
        moves = descriptions.moves_text(step)
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
        end = "" if taken == n else ", then a deadlock"
        return Reply(f"{steps} at random{end}", is_elsewhere=True)

    def _filter(self, rest: str) -> Reply:
        self.simulation.name_filter = _unquoted(rest)
        return _lines(descriptions.enabled_lines(self.simulation))

    def _state(self) -> Reply:
        return _lines(
            f"{quoted_name(name)}={descriptions.value_text(value)}"
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
