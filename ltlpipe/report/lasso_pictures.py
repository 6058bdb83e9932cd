"""Pictures of lassos: the steps, and the components that take each.

Input: the lassos of a result table and, if still available, the systems. Output: data
that the page's script draws as message sequences: one line per component, one row per
step, a dot where a component takes part.  Equal pictures are shared; long ones are cut
in the middle, with the number of omitted steps.

A row has only the names of actions.  An action that synchronises is taken by all
components that have it; an internal one by one of those that have one of its name, and
if there are several, the picture says that it is one of them.

`Replay` computes the states of components, as far as the actions determine them.  A
component is replayed by itself: the set of the states in which it can be after each of
its steps, first forwards, and then backwards from the end, where the cycle closes: it
ends in the state in which it began.  A state is known if the set has one element; for
deterministic components all are.

`ViolatingSteps` finds again which actions a formula names, and after which step a
safety formula is lost: for formulas that are safety formulas by their syntax
(`ltlpipe.automata.words`), as far as there is time.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ltlpipe.automata.words import first_bad_prefix
from ltlpipe.batch.table import actions_in
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import Limits, StoppedError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ltlpipe.systems.networks.lts import Network

States = frozenset[int]
Change = tuple[int | None, int | None]
"""A local state before a step and after it; None: the actions do not determine it."""


class Replay:
    """Replays the actions of runs on the components of a network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.takers = parts_of(network)
        self._targets: dict[int, dict[str, dict[int, set[int]]]] = {}

    def participants(self, action: str) -> tuple[int, ...]:
        """Return the components that an action can move."""
        return self.takers[action].components if action in self.takers else ()

    def changes(
        self, actions: Sequence[str], first: int
    ) -> list[tuple[Change, ...]] | None:
        """Return what each step of a lasso changes, for each component that takes it.

        None if the network has no such run.  `actions` are those of the prefix and the
        cycle, which begins at index `first`.
        """
        steps_of: dict[int, list[int]] = {}  # the steps of each component
        for step, action in enumerate(actions):
            for component in self.participants(action):
                steps_of.setdefault(component, []).append(step)
        changes: dict[tuple[int, int], Change] = {}
        for component, steps in steps_of.items():
            names = [actions[step] for step in steps]
            sets = self._passed(component, names, bisect_left(steps, first))
            if sets is None:
                return None
            known = [next(iter(some)) if len(some) == 1 else None for some in sets]
            for step, change in zip(steps, pairwise(known), strict=True):
                changes[step, component] = change
        return [
            tuple(changes[step, component] for component in self.participants(action))
            for step, action in enumerate(actions)
        ]

    def _passed(
        self, component: int, names: Sequence[str], begin: int
    ) -> list[States] | None:
        """Return in which states it can be, before the first step and after each.

        After the last step the component is in its state before step `begin`.  None if
        there is no such run.
        """
        sets = [frozenset([self.network.components[component].initial])]
        steps = [(self._labelled(component)[n], self.takers[n].all) for n in names]
        for targets, is_certain in steps:
            resting = frozenset() if is_certain else sets[-1]
            sets.append(resting.union(*(targets.get(state, ()) for state in sets[-1])))
        sets[begin] = sets[-1] = sets[begin] & sets[-1]
        for k, (targets, is_certain) in reversed([*enumerate(steps)]):
            if len(sets[k]) > 1:
                resting = frozenset() if is_certain else sets[k + 1]
                sets[k] = frozenset(
                    state
                    for state in sets[k]
                    if state in resting
                    or not sets[k + 1].isdisjoint(targets.get(state, ()))
                )
        return sets if all(sets) else None

    def _labelled(self, component: int) -> dict[str, dict[int, set[int]]]:
        """Return the targets of each label, for each state that has it."""
        if component not in self._targets:
            lts = self.network.components[component]
            found: dict[str, dict[int, set[int]]] = {label: {} for label in lts.labels}
            for src, label, dst in lts.transitions():
                found[label].setdefault(src, set()).add(dst)
            self._targets[component] = found
        return self._targets[component]


@lru_cache(maxsize=4096)
def named(formula: str) -> frozenset[str]:
    """Return the names of a formula's propositions; none if it is not a formula."""
    try:
        return frozenset(parse(formula).propositions)
    except LtlpipeError:
        return frozenset()


SECONDS = 3.0
"""For all formulas of a table."""

SECONDS_OF_ONE = 0.5


class ViolatingSteps:
    """Finds bad prefixes, within some seconds in all."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + SECONDS
        self.ran_out = False  # there was no time for some
        self._known: dict[tuple[str, tuple[str, ...], int], int | None] = {}

    def of(
        self,
        formula: str,
        actions: Sequence[str],
        first: int,
        unclear: Collection[str] = (),
    ) -> int | None:
        """Return the length of the bad prefix of a run of a network, if it is known.

        Parameters
        ----------
        formula : str
            What the run violates.
        actions : sequence of str
            Prefix and cycle.
        first : int
            Where the cycle begins.
        unclear : collection of str
            Names of steps that no proposition can name.
        """
        key = (formula, tuple(actions), first)
        if key not in self._known:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self.ran_out = True
                return None
            limits = Limits(timeout=min(left, SECONDS_OF_ONE))
            try:
                self._known[key] = _found(formula, actions, first, unclear, limits)
            except (LtlpipeError, StoppedError):
                self._known[key] = None
        return self._known[key]


def _found(
    text: str,
    actions: Sequence[str],
    first: int,
    unclear: Collection[str],
    limits: Limits,
) -> int | None:
    formula = parse(text)
    names = set(formula.propositions)
    if not formula.spot.is_syntactic_safety() or names & {*unclear} & {*actions}:
        return None
    letters = [[], *([name] for name in sorted(names))]
    number = {name: k for k, (name,) in enumerate(letters[1:], start=1)}
    word = np.array([number.get(action, 0) for action in actions])
    job = first_bad_prefix(formula, letters, word, first, one_at_a_time=True)
    return run(job, limits)


Item = TypeVar("Item")

LONGEST = (120, 60, 24, 12)
"""Steps that are kept of a prefix or a cycle: the first that fits into `BUDGET`."""

BUDGET = 4_000_000
"""Steps that all pictures of a page may have together."""


REPLAYED = 2_000_000
"""Steps of components that are replayed for all pictures of a page together."""

UNKNOWN = -1
"""A state that the actions do not determine."""


class Place(NamedTuple):
    """Where a system is: its files, and the options for reading them."""

    files: tuple[str, ...]
    manner: tuple[tuple[str, Any], ...] = ()


class Drawn(NamedTuple):
    """The steps of a prefix or a cycle that are shown.

    `states` has, step by step and for each component that takes part, its states before
    and after the step, as numbers of `System.states`; None where the states are
    unknown.
    """

    steps: tuple[int, ...]  # actions, as numbers of `Pictures.actions`
    left_out: int  # missing after the first half of `steps` (the longer one)
    states: tuple[int, ...] | None = None


class Picture(NamedTuple):
    """The picture of one lasso; `system` is a number of `Pictures.systems`."""

    prefix: Drawn
    cycle: Drawn
    system: int | None


class Part(NamedTuple):
    """Who takes an action: all of `components`, or one of them."""

    components: tuple[int, ...]
    all: bool


class System(NamedTuple):
    """The data about a network that pictures need."""

    components: list[str]
    parts: dict[int, Part]  # of the actions that occur
    states: list[str]  # the names that occur
    unclear: frozenset[str]  # names of actions that no proposition can name


class Pictures(NamedTuple):
    """The pictures of a table."""

    actions: list[str]  # the names that occur
    systems: list[System]  # those that could be loaded
    pictures: list[Picture]  # each once
    of_row: list[int | None]  # the picture of each row of the table
    has_all_states: bool = True  # of the systems that could be loaded


def cut(steps: Sequence[Item], longest: int) -> tuple[list[Item], int]:
    """Return the first and last steps, `longest` together, and the number omitted.

    Examples
    --------
    >>> cut(["a", "b", "c", "d", "e"], 3)
    (['a', 'b', 'e'], 2)
    """
    if len(steps) <= longest:
        return list(steps), 0
    head = (longest + 1) // 2
    tail = longest - head
    return [*steps[:head], *steps[len(steps) - tail :]], len(steps) - longest


def parts_of(network: Network) -> dict[str, Part]:
    """Return the participants of a network's actions, by name."""
    takers: dict[str, list[tuple[int, ...]]] = {}
    for action in network.actions:
        takers.setdefault(action.name, []).append(action.participants)
    return {
        name: Part(tuple(sorted({i for who in found for i in who})), len(found) == 1)
        for name, found in takers.items()
    }


def pictures(
    lassos: Iterable[tuple[str, str, Place | None] | None],
    load: Callable[[Place], Network | None],
) -> Pictures:
    """Return what to draw.

    For each row `lassos` has prefix and cycle as in the result table, and the files
    that hold its system, if they are known; `load` returns the network that they hold,
    or None, and is called once for each.

    Raises
    ------
    LtlpipeError
        Prefix or cycle is not a JSON list of texts.
    """
    rows = list(lassos)
    words = {
        lasso: (actions_in(lasso[0]), actions_in(lasso[1]))
        for lasso in rows
        if lasso is not None
    }
    longest = _longest(len(part) for both in words.values() for part in both)
    names: dict[str, int] = {}  # of actions, in order of first use
    looked_at: list[_LookedAt] = []
    system_of: dict[Place | None, int | None] = {None: None}
    drawn: dict[Picture, int] = {}
    number: dict[tuple[str, str, Place | None] | None, int | None]
    number, left = {None: None}, REPLAYED
    for lasso, (prefix, cycle) in words.items():
        files = lasso[2]
        if files is not None and files not in system_of:
            network = load(files)
            system_of[files] = None if network is None else len(looked_at)
            looked_at += [] if network is None else [_LookedAt(network)]
        place, states = system_of[files], None
        if place is not None:
            actions = [*prefix, *cycle]
            left -= sum(len(looked_at[place].participants(a)) for a in actions)
            if left >= 0:
                states = looked_at[place].states(actions, len(prefix))
        first = _drawn(prefix, longest, names, states)
        again = _drawn(cycle, longest, names, states, len(prefix))
        if place is not None:
            looked_at[place].shown |= {*first.steps, *again.steps}
        # Long lassos that differ in the middle only look alike.
        picture = Picture(first, again, place)
        number[lasso] = drawn.setdefault(picture, len(drawn))
    of_row = [number[lasso] for lasso in rows]
    systems = [each.system([*names]) for each in looked_at]
    return Pictures(list(names), systems, list(drawn), of_row, left >= 0)


class _LookedAt(Replay):
    """A network, and the data shown from it."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.shown: set[int] = set()  # actions
        self._states: dict[str, int] = {}  # names, in order of first use

    def states(
        self, actions: Sequence[str], first: int
    ) -> Callable[[int], list[int]] | None:
        """Return the states before and after each step, by its number."""
        found = self.changes(actions, first)
        if found is None:
            return None
        return lambda step: [
            self._number(component, state)
            for component, change in zip(
                self.participants(actions[step]), found[step], strict=True
            )
            for state in change
        ]

    def _number(self, component: int, state: int | None) -> int:
        if state is None:
            return UNKNOWN
        name = self.network.components[component].state_name(state)
        return self._states.setdefault(name, len(self._states))

    def system(self, names: Sequence[str]) -> System:
        """Return the data of the pictures; `names` are those of actions."""
        parts = {
            action: self.takers[names[action]]
            for action in sorted(self.shown)
            if names[action] in self.takers
        }
        internal = frozenset(a.name for a in self.network.actions if a.internal)
        components = [lts.name for lts in self.network.components]
        return System(components, parts, list(self._states), internal)


def _drawn(
    steps: Sequence[str],
    longest: int,
    names: dict[str, int],
    states_of: Callable[[int], list[int]] | None,
    first: int = 0,
) -> Drawn:
    kept, left_out = cut(range(len(steps)), longest)
    shown = tuple(names.setdefault(steps[k], len(names)) for k in kept)
    if states_of is None:
        return Drawn(shown, left_out)
    states = tuple(state for k in kept for state in states_of(first + k))
    return Drawn(shown, left_out, states)


def _longest(lengths: Iterable[int]) -> int:
    """Return how many steps of each part can be kept."""
    counts = Counter(lengths)
    fitting = (
        longest
        for longest in LONGEST
        if sum(min(length, longest) * n for length, n in counts.items()) <= BUDGET
    )
    return next(fitting, LONGEST[-1])
