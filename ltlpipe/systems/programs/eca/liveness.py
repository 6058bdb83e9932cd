"""Liveness of variables of a program, after each of its rules.

The *need* for a variable behind a rule is `DEAD` if its value does not matter any more,
`REGION` if only its region does (`ltlpipe.systems.programs.eca.rules`), or `VALUE`.
It is what the rules that can be next need:

- rule s can be next behind r if no literal of its guard is false in all states that r
  leads to, by what is known of them (`ltlpipe.systems.programs.eca.ranges`);
- the region of a variable is needed for a literal of s that is not decided there;
- what s needs of its reads follows from what is needed behind s of its targets.  If
  that is the region of a target, and the interval of what is assigned lies in one
  region, nothing is needed; if it does for each choice of regions of the variables
  that are read, their regions are; otherwise their values;
- nothing is needed of a variable whose value, or region, the guard of s tells;
- an assignment that might have no value needs the values that it reads, for it ends
  the run.

Two states behind r are *alike* if they agree in what is needed, and are both among the
states that are known behind r.  Alike states take the same inputs by the same rules,
and these lead to alike states: so a state may be replaced by any that is alike.  It
gets the least known value of a region in place of a value of which the region is
needed, and some known value in place of one that is not needed.  docs/rers.md has the
proof.

Source: for liveness, F. Nielson, H. R. Nielson and C. Hankin, "Principles of Program
Analysis", Springer 1999, Sec. 2.1.4.  Differences from the source: three levels; the
flow graph is that of rules which can follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.guards import Following, masks_of
from ltlpipe.systems.programs.eca.program import ERROR, N_OWN, Assign, If
from ltlpipe.systems.programs.eca.ranges import (
    ANALYSING,
    Ranges,
    fails,
    interval,
    joined,
)
from ltlpipe.systems.programs.eca.rules import is_connective, reads, simple
from ltlpipe.systems.programs.program import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.guards import Key
    from ltlpipe.systems.programs.eca.program import Source, Statement
    from ltlpipe.systems.programs.eca.ranges import Known
    from ltlpipe.systems.programs.program import Expression

DEAD, REGION, VALUE = range(3)


class Assigned(NamedTuple):
    """An assignment, and what it needs."""

    statement: Assign
    reads: tuple[int, ...]
    for_region: int  # of its reads, if the region of the target is needed
    fails: bool
    low: int  # the least value, as far as is known


class Branch(NamedTuple):
    """An ``if`` inside of a rule, and what it needs."""

    statement: If
    needs: tuple[tuple[int, int], ...]  # of the condition: variables and needs
    fails: bool
    then: tuple[Assigned | Branch, ...]
    otherwise: tuple[Assigned | Branch, ...]


@dataclass(eq=False)
class Behaviour:
    """A rule that can fire, and what is known and needed around it."""

    number: int
    body: tuple[Assigned | Branch, ...]
    before: list[Known]
    after: list[Known]
    group: int  # of the rules behind which the same is known
    conditions: tuple[tuple[int, int], ...]  # needs of the guard beside its literals
    needs: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    """int8[n_variables], behind the rule."""


class _Group:
    """What is known behind some rules, and which can be next."""

    def __init__(self, own: np.ndarray, following: np.ndarray) -> None:
        self.own = own  # int8[n_variables], needed for guards
        self.following = following  # rules that can be next, as indices
        self.needs = own


class Liveness:
    """The needs behind all rules of a program.

    `tests_need` is what comparisons with constants need, `REGION` or `VALUE`;
    `regions` are those in which rules can begin, if that is known
    (`ltlpipe.systems.programs.eca.guards.regions_before`).
    """

    def __init__(
        self,
        ranges: Ranges,
        tests_need: int = REGION,
        regions: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        self._tests_need = tests_need
        self._regions = regions
        self._ranges = ranges
        self._rules = ranges.rules
        self._n = len(ranges.always)
        self.behaviours: list[Behaviour] = []
        """The rules that can fire, in the program's order."""
        self.read: set[int] = set()
        """Variables that are read though nothing is needed of them, since it is known.

        They are parts of states, in which they have what is known.
        """
        self._groups: list[_Group] = []

    def found(self) -> Job[list[Behaviour]]:
        """Find the needs behind all rules that can fire."""
        yield from self._behaviours()
        yield from self._follow()
        yield from self._solve()
        return self.behaviours

    @property
    def initial_needs(self) -> np.ndarray:
        """The needs in the first state."""
        return self._groups[0].needs

    # --- forwards -----------------------------------------------------------

    def _behaviours(self) -> Job[None]:
        ticks = Ticks(ANALYSING, 60.0)
        ranges, source = self._ranges, self._rules.source
        for number, rule in enumerate(self._rules.rules):
            if self._regions is not None and number not in self._regions:
                continue
            masks = None if self._regions is None else self._regions[number]
            before = ranges.before(number, masks)
            yield from ticks.worked(1 + len(rule.body))
            if before is None or not rule.inputs:
                continue
            after = before.copy()
            body = self._run(rule.body, after)
            needs: dict[int, int] = {}
            for condition in rule.conditions:
                _add_tests(needs, condition, source, self._tests_need)
            found = Behaviour(number, body, before, after, -1, tuple(needs.items()))
            self.behaviours.append(found)

    def _run(
        self, body: Sequence[Statement], known: list[Known]
    ) -> tuple[Assigned | Branch, ...]:
        """Find what the statements of a body need; change what is known."""
        ranges, found = self._ranges, []
        step: Assigned | Branch
        for statement in body:
            if isinstance(statement, Assign):
                read = tuple(sorted(reads(statement.value)))
                need, might = (
                    ranges.need_of(statement, known),
                    fails(statement.value, known),
                )
                low, _ = interval(statement.value, known)
                step = Assigned(statement, read, need, might, low)
                ranges.assign(statement, known)
            else:
                assert isinstance(statement, If)
                needs: dict[int, int] = {}
                source, test = self._rules.source, self._tests_need
                _add_tests(needs, statement.condition, source, test)
                other, might = known.copy(), fails(statement.condition, known)
                then = self._run(statement.then, known)
                otherwise = self._run(statement.otherwise, other)
                joined(known, other)
                needed = tuple(needs.items())
                step = Branch(statement, needed, might, then, otherwise)
            found.append(step)
        return tuple(found)

    def _follow(self) -> Job[None]:
        """Find which rules can follow each other, from the first state on."""
        rules = self._rules
        table = Following(rules, [behaviour.number for behaviour in self.behaviours])
        numbers: dict[Key, int] = {}
        waiting: list[Key] = []

        def group_of(known: Sequence[Known]) -> int:
            key = table.key(masks_of(known))
            if key not in numbers:
                numbers[key] = len(numbers)
                waiting.append(key)
            return numbers[key]

        group_of(self._ranges.initial)
        reached = np.zeros(len(self.behaviours), dtype=np.bool_)
        ticks = Ticks(ANALYSING, 0.02 * (1 + table.possible.size))
        at = 0
        while at < len(waiting):
            key = waiting[at]
            at += 1
            following = table.behind(key)
            own = np.zeros(self._n, dtype=np.int8)
            own[table.undecided(key, following)] = self._tests_need
            for k in following.tolist():
                for variable, need in self.behaviours[k].conditions:
                    own[variable] = max(own[variable], need)
                if not reached[k]:
                    reached[k] = True
                    self.behaviours[k].group = group_of(self.behaviours[k].after)
            self._groups.append(_Group(own, following))
            yield from ticks.worked()
        place = np.cumsum(reached) - 1
        self.behaviours = [b for b in self.behaviours if b.group >= 0]
        for group in self._groups:
            group.following = place[group.following]

    # --- backwards ----------------------------------------------------------

    def _solve(self) -> Job[None]:
        """Propagate needs from rules to those before them until nothing grows."""
        behaviours, groups = self.behaviours, self._groups
        members: list[list[int]] = [[] for _ in groups]
        for k, behaviour in enumerate(behaviours):
            members[behaviour.group].append(k)
        preceding: list[list[int]] = [[] for _ in behaviours]
        for g, group in enumerate(groups):
            for k in group.following.tolist():
                preceding[k].append(g)
        inward = np.zeros((len(behaviours), self._n), dtype=np.int8)
        waiting = dict.fromkeys(range(len(groups)))  # ordered, each once
        begun = [False] * len(groups)
        ticks = Ticks(ANALYSING, 30.0)
        while waiting:
            g = next(iter(waiting))
            del waiting[g]
            group = groups[g]
            needs = group.own
            if len(group.following):
                needs = np.maximum(needs, inward[group.following].max(axis=0))
            if begun[g] and (needs == group.needs).all():
                continue
            begun[g], group.needs = True, needs
            for k in members[g]:
                before = self._before(behaviours[k], needs)
                yield from ticks.worked()
                if (before != inward[k]).any():
                    inward[k] = before
                    waiting.update(dict.fromkeys(preceding[k]))
        for behaviour in behaviours:
            behaviour.needs = groups[behaviour.group].needs

    def _before(self, behaviour: Behaviour, after: np.ndarray) -> np.ndarray:
        """Return what is needed before a rule."""
        needs: list[int] = after.tolist()
        if self._rules.rules[behaviour.number].output == ERROR:
            needs = [DEAD] * len(needs)
        needed_before(behaviour.body, needs)
        for variable, known in enumerate(behaviour.before):
            if needs[variable] and (
                variable < N_OWN
                or known.low == known.high
                or (needs[variable] == REGION and known.is_one_region)
            ):
                needs[variable] = DEAD
                self.read.add(variable)
        return np.array(needs, dtype=np.int8)


def needed(
    body: Sequence[Assigned | Branch], needs: list[int]
) -> Iterator[Assigned | Branch]:
    """Yield what matters of a body, last first; `needs` are those behind it by then."""
    for step in reversed(body):
        if matters(step, needs):
            yield step
        needed_before((step,), needs)


def needed_before(body: Sequence[Assigned | Branch], needs: list[int]) -> None:
    """Change what is needed behind a body to what is needed before it."""
    for step in reversed(body):
        if isinstance(step, Assigned):
            target = step.statement.variable
            need = needs[target]
            needs[target] = DEAD
            if need == REGION:
                need = step.for_region
            for variable in step.reads if need or step.fails else ():
                needs[variable] = max(needs[variable], VALUE if step.fails else need)
        elif matters(step, needs):
            other = needs.copy()
            needed_before(step.then, needs)
            needed_before(step.otherwise, other)
            needs[:] = map(max, needs, other)
            for variable, need in step.needs:
                own = VALUE if step.fails else need
                needs[variable] = max(needs[variable], own)


def matters(step: Assigned | Branch, needs: Sequence[int]) -> bool:
    """Whether a statement does anything that is needed behind it."""
    if step.fails:
        return True
    if isinstance(step, Assigned):
        return needs[step.statement.variable] != DEAD
    return any(matters(inner, needs) for inner in (*step.then, *step.otherwise))


def _add_tests(
    needs: dict[int, int], condition: Expression, source: Source, test: int
) -> None:
    """Add what a condition needs: `test` for comparisons with constants."""
    found = simple(condition, source)
    if found is not None:
        needs[found[0]] = max(needs.get(found[0], DEAD), test)
    elif is_connective(condition):
        for part in parts(condition):
            _add_tests(needs, part, source, test)
    else:
        for variable in reads(condition):
            needs[variable] = VALUE
