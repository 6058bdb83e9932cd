"""Disagreements between the rows of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ltlpipe.batch.answering import UNSUPPORTED
from ltlpipe.batch.comparing import Configuration
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.batch.table import Row

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

    They are rows of `ltlpipe.batch.comparing.comparison_rows`, or those of a table by
    `ltlpipe.batch.table.from_frame`.  Unknown verdicts contradict none.
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
    automaton = row.get("automaton")
    return Configuration(
        row["emptiness"], None if automaton is None else automaton.lower()
    )
