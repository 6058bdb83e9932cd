"""Lassos and finite runs as people see them, with the names of their steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import quoted_name
from ltlpipe.runtime.objects import ByValue, Displayed, renderer
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import (
    Move,
    changed_values,
    moves_of_values,
    named_steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.systems.models import System
    from ltlpipe.verdict.why import Explanation

_PRINTED = 60
"""The steps of a part that ``print`` shows."""

MOST_STEPS = 1_000
"""The steps of longer lassos are omitted in JSON, which has their actions."""


class Spelling(NamedTuple):
    """The word of a lasso: the propositions that hold in each step.

    Parameters
    ----------
    propositions : tuple of str
        What the word is over.
    letters : list of list of str
        Sets of those that hold together.
    steps : int64[k + c]
        The number of the letter of each step.
    """

    propositions: tuple[str, ...]
    letters: list[list[str]]
    steps: np.ndarray


def spelling_of(told: tuple[str, ...], holding: Sequence[Sequence[str]]) -> Spelling:
    """Return the word of steps at which some propositions hold, over those told."""
    letters: dict[tuple[str, ...], int] = {}
    steps = [
        letters.setdefault(tuple(p for p in told if p in names), len(letters))
        for names in holding
    ]
    numbers = np.array(steps, dtype=np.int64)
    return Spelling(told, [list(letter) for letter in letters], numbers)


class LassoStep(NamedTuple):
    """One step of a lasso.

    Parameters
    ----------
    action : str
        What happens: the action of a network, the transition of a model.
    moves : tuple of Move
        The components of a network that take part; of a model the processes that move,
        and the variables that change.
    holds : tuple of str
        The propositions of the property that hold at the step.
    """

    action: str
    moves: tuple[Move, ...]
    holds: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the step as ``--json`` has it."""
        moves = [
            {"name": name, "from": before, "to": after}
            for name, before, after in self.moves
        ]
        return {"action": self.action, "moves": moves, "holds": list(self.holds)}


@dataclass(frozen=True, eq=False)
class Lasso(ByValue, Displayed):
    """A run of the system that violates the property: ``prefix cycle cycle ...``.

    Parameters
    ----------
    prefix, cycle : list
        The cycle has at least one entry.  Of a network the actions, in order; of a
        model the valuations before each step, from names of variables to their values;
        of a graph of Spot the valuations of its steps, from propositions to whether
        they hold.
    actions : int32[k + c]
        The actions as indices into those of the system, of a graph Spot's numbers of
        edges; -1 is the step in which a state without successors repeats itself.
    states : int32[k + c + 1, n_components] or int64[k + c + 1, n_variables]
        Local states, or values, before each step and after the last one; of a graph its
        states, int32[k + c + 1, 1].
    moves : list of str, optional
        The actions of prefix and cycle, where these are valuations; of a graph the
        states of each step, such as "0 -> 1".
    shortest_of : str or None
        Among which no other is known to have fewer steps, prefix and cycle together:
        "system", the runs of the system that violate the property; "product", the
        lassos of the product of the system and the property's automaton, which may
        need more steps than the runs that they go with; None is not known.
    spelling : Spelling, optional
        The letters of `word`.
    system : Network, Model or SpotGraph, optional
        The system, which does not count where lassos are compared.
    bad_prefix : int, optional
        The steps after which no continuation satisfies the formula: later steps do not
        matter.  None if unknown, and for formulas that are not syntactically safe.
    formula : str, optional
        The formula that it violates; it does not count where lassos are compared.
    """

    prefix: list[Any]
    cycle: list[Any]
    actions: np.ndarray = field(repr=False)
    states: np.ndarray = field(repr=False)
    moves: list[str] | None = field(default=None, repr=False)
    shortest_of: str | None = None
    spelling: Spelling | None = field(default=None, repr=False)
    system: System | None = field(default=None, repr=False, compare=False)
    bad_prefix: int | None = None
    formula: str | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """Return prefix and cycle, by the names of their actions."""
        prefix = f"prefix: {_listed(self.prefix_actions)}"
        cycle = f"\ncycle:  {_listed(self.cycle_actions)}" if self.cycle else ""
        return prefix + cycle

    @property
    def shortest(self) -> bool:
        """Whether it is known that no violation of the system has fewer steps."""
        return self.shortest_of == "system"

    @cached_property
    def steps(self) -> list[LassoStep]:
        """Each step: its action, its moves, and the propositions that hold."""
        return steps_of(self)

    def to_frame(self) -> Any:
        """Return a DataFrame with a row for each step, numbered from 1.

        Columns are `part` ("prefix" or "cycle"), `action`, `moves` (as text), and
        `holds` (the propositions of the formula that hold).
        """
        import pandas as pd

        parts = ["prefix"] * len(self.prefix) + ["cycle"] * len(self.cycle)
        rows = [
            (part, step.action, "; ".join(map(str, step.moves)), ", ".join(step.holds))
            for part, step in zip(parts, self.steps, strict=True)
        ]
        index = pd.RangeIndex(1, len(rows) + 1, name="step")
        return pd.DataFrame(rows, index, ["part", "action", "moves", "holds"])

    def why(self) -> Any:
        """Return why it violates its formula: a DataFrame of truth values.

        It has a row for each subformula and a column for each step, numbered from 1.
        Values are nullable booleans: in a finite run those that depend on what follows
        are missing.

        Raises
        ------
        UnsupportedError
            See `explanation`.
        """
        return self.explanation().to_frame()

    def explanation(self) -> Explanation:
        """Return the values of subformulas at each step, and which are the cause.

        Raises
        ------
        UnsupportedError
            It violates no formula, one of PSL, of finite runs or of the past, or one
            with propositions that its letters do not have.
        """
        from ltlpipe.logic.formulas import parse
        from ltlpipe.verdict.why import explained

        if self.formula is None or self.spelling is None:
            raise UnsupportedError(
                "only a violation of a formula can be explained, and one of infinite "
                "runs, without past operators"
            )
        formula, (told, letters, steps) = parse(self.formula), self.spelling
        if missing := {*formula.propositions} - {*told}:
            raise UnsupportedError(f"the run does not tell where {min(missing)} holds")
        word = [letters[k] for k in steps.tolist()]
        return explained(formula, word, len(self.prefix) if self.cycle else len(word))

    def chart(self, **limits: int) -> Any:
        """Return the run as a sequence chart, a `ltlpipe.Chart`.

        `limits` are those of the chart: `steps` and `lanes`.  Notebooks show it, and
        ``print`` prints it.
        """
        return renderer().Chart(self, **limits)

    @cached_property  # its letters live as long as it does
    def word(self) -> Any:
        """The word of the run, a ``spot.twa_word`` over the property's propositions.

        Of a network, exactly the proposition of the action holds at each step.
        Without a property it is over the propositions of a graph, else over none.  It
        shares the BDD dictionary of a graph, else Spot's own, that of
        ``spot.translate``.
        """
        from ltlpipe.automata.words import word_of

        spelling = self.spelling
        if spelling is None:
            spelling = Spelling((), [[]], self.actions * 0)
        graph = getattr(self.system, "graph", None)
        dictionary = None if graph is None else graph.get_dict()
        return word_of(*spelling, len(self.prefix), dictionary)

    @property
    def has_valuations(self) -> bool:
        """Whether it is a run of a model, and not of a network."""
        return isinstance(self.cycle[0], dict)

    @property
    def action_names(self) -> list[str]:
        """The actions of prefix and cycle."""
        return [*self.prefix, *self.cycle] if self.moves is None else self.moves

    @property
    def prefix_actions(self) -> list[str]:
        """The actions of the prefix."""
        return self.action_names[: len(self.prefix)]

    @property
    def cycle_actions(self) -> list[str]:
        """The actions of the cycle."""
        return self.action_names[len(self.prefix) :]

    def changes(self) -> list[dict[str, tuple[Any, Any]]]:
        """Return `change` of each step."""
        return [self.change(step) for step in range(len(self.prefix + self.cycle))]

    def change(self, step: int) -> dict[str, tuple[Any, Any]]:
        """Return the variables that change in a step of a model's run, from 0.

        From the name of each to its values before and after.
        """
        return changed_values(self.valuation(step), self.valuation(step + 1))

    def valuation(self, step: int) -> dict[str, Any]:
        """Return the valuation of a model before a step, from 0.

        The last step leads back to the first of the cycle.
        """
        in_cycle = step - len(self.prefix)
        known: dict[str, Any] = (
            self.prefix[step]
            if in_cycle < 0
            else self.cycle[in_cycle % len(self.cycle)]
        )
        return known

    def to_dict(self) -> dict[str, Any]:
        """Return prefix and cycle as plain lists; of a model the actions, too."""
        known: dict[str, Any] = {"prefix": self.prefix, "cycle": self.cycle}
        of_product = self.shortest_of if self.shortest_of == "product" else False
        known |= {"shortest": self.shortest or of_product}
        known["bad_prefix"] = self.bad_prefix
        if len(self.actions) <= MOST_STEPS:
            known["steps"] = [step.to_dict() for step in self.steps]
        if not self.has_valuations:
            return known
        return known | {
            "prefix_actions": self.prefix_actions,
            "cycle_actions": self.cycle_actions,
        }


def _listed(names: Sequence[str]) -> str:
    """Return names with blanks between, the first of many."""
    left = len(names) - _PRINTED
    shown = " ".join(map(quoted_name, names[:_PRINTED])) or "(empty)"
    return shown + (f" ... ({left:,} more)" if left > 0 else "")


BAD_PREFIX, MAXIMAL, FINAL = "bad-prefix", "maximal", "final"
FINITE_KINDS = (BAD_PREFIX, MAXIMAL, FINAL)
"""The kinds of finite runs."""


@dataclass(frozen=True, eq=False)
class FiniteRun(Lasso):
    """A finite run of the system that violates the property; it has no cycle.

    Parameters
    ----------
    prefix : list
        The steps, as those of a lasso.
    cycle : list
        Always empty.
    actions : int32[k]
        As those of a lasso.
    states : int32[k + 1, n_components] or int64[k + 1, n_variables]
        Local states, or values, before each step and after the last one.
    kind : str
        "bad-prefix": each continuation violates the property, and there is one that
        counts.  "maximal": it has no continuation, and is a violation as it is.
        "final": it ends in a final state, though it could go on.
    spelling : Spelling, optional
        The letters of the steps, and, if the steps alone do not violate the property
        whatever follows, of the state behind them.
    """

    kind: str = BAD_PREFIX

    @property
    def word(self) -> None:
        """Nothing: words of Spot are infinite."""

    @property
    def has_valuations(self) -> bool:
        """Whether it is a run of a model, and not of a network."""
        return self.moves is not None

    def valuation(self, step: int) -> dict[str, Any]:
        """Return the valuation of a model before a step, from 0, or after the last."""
        system: Any = self.system
        row = tuple(self.states[step].tolist())
        if not isinstance(system, Model):  # a graph, whose valuations are on its edges
            return {"state": row[0]}
        return system.shown(row)

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the steps; of a model the valuations around them, too."""
        if len(self.actions) <= MOST_STEPS:
            steps = [step.to_dict() for step in self.steps]
        else:
            steps = [{"action": name} for name in self.action_names]
        known: dict[str, Any] = {"kind": self.kind, "steps": steps}
        if not self.has_valuations:
            return known
        return known | {"states": [self.valuation(k) for k in range(len(self.states))]}


def steps_of(lasso: Lasso, wanted: Iterable[int] | None = None) -> list[LassoStep]:
    """Return the steps of a lasso, or some of them."""
    numbers = range(len(lasso.actions)) if wanted is None else wanted
    names = lasso.action_names
    movers, holds = _movers_of(lasso), holding_at(lasso)
    return [LassoStep(names[k], movers(k), holds(k)) for k in numbers]


def situation(lasso: Lasso, step: int) -> dict[str, Any]:
    """Return the states of all components before a step, from 0, by their names.

    Of a model the values of its variables.  After the last step it is the situation in
    which the cycle begins.
    """
    row = lasso.states[step].tolist()
    if isinstance(lasso.system, Network):
        return named_steps_of(lasso.system).shown(row)
    if lasso.has_valuations:
        return lasso.valuation(step)
    return {f"component {i}": str(state) for i, state in enumerate(row, start=1)}


def holding_at(lasso: Lasso) -> Callable[[int], tuple[str, ...]]:
    """Return the function for the propositions that hold at a step."""
    spelling = lasso.spelling
    if spelling is None:
        return lambda _: ()
    known = set(spelling.propositions)
    letters = [tuple(n for n in names if n in known) for names in spelling.letters]
    steps = spelling.steps.tolist()
    return lambda step: letters[steps[step]]


def _movers_of(lasso: Lasso) -> Callable[[int], tuple[Move, ...]]:
    """Return the function for the moves of a step."""
    system, states, actions = lasso.system, lasso.states, lasso.actions
    if isinstance(system, Network | Model):
        steps = named_steps_of(system)
        return lambda k: steps.moves(
            tuple(states[k].tolist()), int(actions[k]), tuple(states[k + 1].tolist())
        )
    if lasso.has_valuations:  # of a graph, or of a system that is unknown
        return lambda k: moves_of_values(lasso.change(k))
    return lambda k: moves_of_values(_changed_numbers(*states[k : k + 2].tolist()))


def _changed_numbers(before: Sequence[int], after: Sequence[int]) -> dict[str, Any]:
    """Return the states of the components that move, by numbers."""
    pairs = enumerate(zip(before, after, strict=True), start=1)
    return {
        f"component {i}": (str(old), str(new)) for i, (old, new) in pairs if old != new
    }
