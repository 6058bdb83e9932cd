"""The rows of comparisons: who disagrees, who has decided what, and in which time.

A *way* is one way to answer questions (`Configuration`).  Rows of
`ltlpipe.batch.comparing.comparison_rows` have it as `way`; those of a table, by
`ltlpipe.batch.table.from_frame`, have the emptiness check and the automaton.

PAR2 is the score of the SAT competitions: the seconds of what was decided, and twice
the time limit for each question that was not.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.table import SPOT
from ltlpipe.question.conditions import AUTO
from ltlpipe.question.given_options import flags_of, options_of
from ltlpipe.question.options import COMPARE
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, UNSUPPORTED, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ltlpipe.batch.table import Row


class Configuration(NamedTuple):
    """One way to answer a question."""

    emptiness: str  # an emptiness check of this version, "auto", or a strategy
    acceptance: str | None  # of the property automaton; None where there is none
    options: tuple[tuple[str, Any], ...] = ()  # the others that a grid gives

    def __str__(self) -> str:
        """Return the name, followed by the acceptance and the other options."""
        kind = "" if self.acceptance is None else f" ({self.acceptance.upper()})"
        return " ".join(filter(None, [self.emptiness + kind, self.others]))

    @property
    def others(self) -> str:
        """The other options, as at the command line."""
        known = options_of(COMPARE)
        told = {name: replace(known[name], default=None) for name in self.settings}
        return shlex.join(flags_of(self.settings, told))

    @property
    def settings(self) -> dict[str, Any]:
        """The other options by their names; a default that has a name has that."""
        known = options_of(COMPARE)
        return {n: known[n].default_name if v is None else v for n, v in self.options}


def cost(row: Row) -> float:
    """Return the seconds of a row's search; of the question if nothing was searched."""
    seconds = row.get("search_seconds")
    return float((row.get("seconds") if seconds is None else seconds) or 0.0)


class Standing(NamedTuple):
    """What one way of a comparison has decided, and what that took."""

    way: Configuration
    asked: int
    holds: int
    violated: int
    seconds: float  # of the searches of what it has decided
    par2: float | None  # the same, and twice the time limit for the others
    alone: tuple[str | None, ...]  # formulas that only this way of several has decided

    @property
    def decided(self) -> int:
        """How many questions it has decided."""
        return self.holds + self.violated


def standings(rows: Iterable[Row], timeout: float | None = None) -> list[Standing]:
    """Return what each way has decided, in the order of a comparison's rows.

    Without a time limit there is no PAR2 for a way that leaves questions open.
    """
    ways: dict[Configuration, list[Row]] = {}
    alone: dict[Configuration, list[str | None]] = {}
    for (_, formula, _), answers in _by_question(rows).items():
        for row in answers:
            ways.setdefault(_way(row), []).append(row)
        deciders = {_way(row) for row in answers if row["verdict"] != UNKNOWN}
        if len(deciders) == 1 < len(set(map(_way, answers))):
            alone.setdefault(deciders.pop(), []).append(formula)
    return [_standing(way, own, alone, timeout) for way, own in ways.items()]


def _standing(
    way: Configuration,
    rows: list[Row],
    alone: Mapping[Configuration, list[str | None]],
    timeout: float | None,
) -> Standing:
    counts = Counter(row["verdict"] for row in rows)
    seconds = sum(cost(row) for row in rows if row["verdict"] != UNKNOWN)
    limit = dict(way.options).get("timeout", timeout)
    par2 = None
    if limit is not None or not counts[UNKNOWN]:
        par2 = seconds + 2 * (limit or 0.0) * counts[UNKNOWN]
    own = tuple(alone.get(way, ()))
    return Standing(way, len(rows), counts[HOLDS], counts[VIOLATED], seconds, par2, own)


def _way(row: Row) -> Configuration:
    """Return the way that a row was asked in; of a table, the one that answered."""
    return row.get("way") or _configuration(row)


_Question = tuple[str, str | None, str | None]  # system, formula, where that is from


@dataclass(frozen=True)
class Disagreement:
    """A question that has two answers, one of which is wrong."""

    system: str  # its name
    formula: str | None  # None asks whether the system has no accepting run
    formula_id: str | None  # where the formula comes from
    holds: tuple[Configuration, ...]  # configurations with this verdict
    violated: tuple[Configuration, ...]
    seeds: tuple[int, ...] = ()  # those that shuffled the transitions of these rows

    def __str__(self) -> str:
        """Describe the disagreement."""
        place = self.formula_id if self.formula_id != self.formula else None
        if place is not None and place.isdecimal():
            place = f"formula {place}"
        asked = "has no accepting run" if self.formula is None else self.formula
        seeds = "".join(f", seed {seed}" for seed in self.seeds)
        return (
            f"{self.system}: {asked}{f' ({place})' if place else ''}: "
            f"{_and(self.holds)} say holds, {_and(self.violated)} say violated{seeds}"
        )


def _and(configured: Iterable[Configuration]) -> str:
    return " and ".join(map(str, configured))


def disagreements(rows: Iterable[Row]) -> list[Disagreement]:
    """Return the questions on which the rows of a comparison do not agree.

    Unknown verdicts contradict none.
    """
    found = []
    for (system, formula, formula_id), answers in _by_question(rows).items():
        holds, violated = (
            tuple(
                dict.fromkeys(_configuration(r) for r in answers if r["verdict"] == v)
            )
            for v in (HOLDS, VIOLATED)
        )
        if holds and violated:
            seeds = dict.fromkeys(row.get("seed") for row in answers)
            known = tuple(int(seed) for seed in seeds if seed is not None)
            found.append(
                Disagreement(system, formula, formula_id, holds, violated, known)
            )
    return found


def has_unsuited(rows: Iterable[Row]) -> bool:
    """Whether there is a question that no algorithm could be asked."""
    return any(
        {row["reason"] for row in answers} == {UNSUPPORTED}
        for answers in _by_question(rows).values()
    )


def _by_question(rows: Iterable[Row]) -> dict[_Question, list[Row]]:
    questions: dict[_Question, list[Row]] = {}
    for row in rows:
        key = (row["system"], row.get("formula"), row.get("formula_id"))
        questions.setdefault(key, []).append(row)
    return questions


def _configuration(row: Row) -> Configuration:
    """Return the configuration that answered, which "auto" may have chosen.

    A strategy that has no search by a name goes by its own.
    """
    automaton, way = row.get("automaton"), row.get("way")
    named = None if way is None else way.emptiness
    search = row["emptiness"] or named or row.get("strategy") or AUTO
    options = () if way is None else way.options
    if way is None and row.get("translator") not in (None, SPOT):
        options = (("translator", row["translator"]),)
    kind = None if automaton is None else automaton.lower()
    return Configuration(search, kind, options)
