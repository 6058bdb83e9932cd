"""Certificates for models: their states stepped through in plain Python.

Steps are those of the interpreter by which lassos are replayed, letters the values of
the propositions in the state that a step leaves.  It takes some ten microseconds per
step, much more than the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.network import CHECKING, wrong_rank
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.runtime.errors import FormulaError, UnknownNameError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.certificates.checking.automaton import Automaton
    from ltlpipe.certificates.checking.document import Clause
    from ltlpipe.certificates.checking.automaton import Fairness
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

_STEP_WORK = 15.0  # microseconds
_VALUE_BYTES = 40  # of a number in a tuple in a dictionary, roughly


class ModelProof:
    """The states of a certificate for a model; see `network.NetworkProof`.

    Parameters
    ----------
    model : Model
        As it has been read.
    automaton : Automaton
        Over propositions of the model.
    never : collection of str
        Propositions that may name what the model does not have: they never hold.
    clauses, fairness, n_states, stutters
        As of a `NetworkProof`.

    Raises
    ------
    RefusedError
        A proposition means nothing.
    """

    def __init__(
        self,
        model: Model,
        automaton: Automaton,
        never: Collection[str],
        clauses: Sequence[Clause],
        fairness: Fairness,
        n_states: int,
        *,
        stutters: bool,
    ) -> None:
        self._model, self._automaton = model, automaton
        self._clauses, self._stutters = clauses, stutters
        self._meanings = [
            meaning_of(model, text, never) for text in automaton.propositions
        ]
        shift = automaton.n_marks
        self._idle = fairness.idle << shift
        self._enabled = [marks << shift for marks in fairness.enabled]
        self._taken = [marks << shift for marks in fairness.taken]
        self._letters: dict[int, list[list[tuple[int, int]]]] = {}
        self.n_entries = len(model.variables)
        per_state = _VALUE_BYTES * (self.n_entries + len(clauses) + 4)
        self.memory_bytes = n_states * per_state
        self.transitions = 0

    def begin(self) -> None:
        """Make the table: from each valuation and state of the automaton to ranks."""
        self._ranks: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}

    def add(self, columns: list[np.ndarray]) -> Job[None]:
        """Take in a block of states.

        Raises
        ------
        RefusedError
            A value makes no sense, or a state stands twice.
        """
        ticks = Ticks(CHECKING, 0.2 * len(columns), self.memory_bytes)
        n = self.n_entries
        at = columns[n]
        if at.min() < 0 or at.max() >= len(self._automaton.edges):
            raise RefusedError("the automaton has no state as high as is said")
        for c in range(n + 1, len(columns)):
            if columns[c].min() < 0:
                raise RefusedError("a rank is too small")
        for values in np.stack(columns, axis=1).tolist():
            state = tuple(values[:n]), values[n]
            if state in self._ranks:
                raise RefusedError(f"a state stands twice: {_shown(*state)}")
            self._ranks[state] = tuple(values[n + 1 :])
            if ticks.over():
                yield ticks.progress

    def check(self) -> Job[None]:
        """Check that the initial state is there, and all steps of all states.

        Raises
        ------
        RefusedError
            Something does not prove what is claimed.
        """
        ticks = Ticks(CHECKING, _STEP_WORK, self.memory_bytes)
        if (self._model.initial(), self._automaton.initial) not in self._ranks:
            raise RefusedError("the initial state is not in the certificate")
        for done, ((values, at), ranks) in enumerate(self._ranks.items()):
            try:
                steps = self._steps(values)
            except (LookupError, ArithmeticError, ValueError) as error:
                told = _shown(values, at)
                raise RefusedError(f"the model cannot be in state {told}") from error
            for action, dst, letter, marks in steps:
                for state, own in self._successors(letter)[at]:
                    self._compare(
                        (values, at), ranks, action, (dst, state), marks | own
                    )
                    self.transitions += 1
            if ticks.over(1 + len(steps)):
                yield ticks.progress._replace(states=done)

    def _steps(
        self, values: tuple[int, ...]
    ) -> list[tuple[int, tuple[int, ...], int, int]]:
        """Return the steps of a valuation: action, successor, letter and marks."""
        steps = list(self._model.each_step(values))
        marks = self._idle
        if not steps:
            if not self._stutters:
                return []
            return [(-1, values, self._letter(values, None, dead=True), marks)]
        seen = 0
        for step in steps:
            seen |= self._enabled[step.action]
        return [
            (
                step.action,
                tuple(step.state),
                self._letter(values, step.action, dead=False),
                (marks ^ seen) | self._taken[step.action],
            )
            for step in steps
        ]

    def _letter(
        self, values: tuple[int, ...], action: int | None, *, dead: bool
    ) -> int:
        return sum(
            1 << k
            for k, meaning in enumerate(self._meanings)
            if evaluate(meaning, values, action=action, dead=dead)
        )

    def _successors(self, letter: int) -> list[list[tuple[int, int]]]:
        known = self._letters.get(letter)
        if known is None:
            known = self._letters[letter] = self._automaton.successors(letter)
        return known

    def _compare(
        self,
        src: tuple[tuple[int, ...], int],
        ranks: tuple[int, ...],
        action: int,
        dst: tuple[tuple[int, ...], int],
        marks: int,
    ) -> None:
        """Check one transition of the product."""
        name = "its repetition"
        if action >= 0:
            name = f"the step {self._model.actions[action]!r}"
        found = self._ranks.get(dst)
        if found is None:
            raise RefusedError(
                f"of state {_shown(*src)} {name} leads to {_shown(*dst)}, which is not "
                "in the certificate"
            )
        for c, clause in enumerate(self._clauses):
            if marks & clause.fin or found[c] < ranks[c]:
                continue
            lacks = clause.lacks
            stays = found[c] == ranks[c] and lacks
            if not stays or marks >> lacks[ranks[c] % len(lacks)] & 1:
                said = f"of state {_shown(*src)} {name} leads to {_shown(*dst)}"
                raise RefusedError(wrong_rank(said, clause, c, ranks[c], found[c]))


def meaning_of(model: Model, text: str, never: Collection[str]) -> Expression:
    """Return what a proposition means in a model.

    Raises
    ------
    RefusedError
        It means nothing, and is not said never to hold.
    """
    try:
        return model.bound(parse_proposition(text), text)
    except UnknownNameError:
        if text in never:
            return Number(0)
        raise RefusedError(f"the model has nothing that {text!r} could mean") from None
    except FormulaError:
        raise RefusedError(f"{text!r} is no proposition") from None


def _shown(values: tuple[int, ...], state: int) -> str:
    return f"({', '.join(map(str, values))}; {state})"
