"""What pictures of lassos show: the steps, and the components that take each.

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
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from ltlpipe.automata.words import first_bad_prefix
from ltlpipe.batch.table import actions_in
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.errors import LtlpipeError
from ltlpipe.runtime.jobs import Limits, StoppedError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ltlpipe.systems.networks.lts import LTS, Network

States = frozenset[int]
Change = tuple[int | None, int | None]
"""A local state before a step and after it; None: the actions do not determine it."""


class Replay:
    """Replays the actions of runs on the components of a network."""

    def __init__(self, network: Network) -> None:
        self._components = [_Component(lts) for lts in network.components]

    def changes(
        self,
        actions: Sequence[str],
        first: int,
        takers: Mapping[str, tuple[tuple[int, ...], bool]],
    ) -> list[tuple[Change, ...]] | None:
        """Return what each step of a lasso changes, for each component that takes it.

        None if the network has no such run.

        Parameters
        ----------
        actions : sequence of str
            Prefix and cycle.
        first : int
            The index at which the cycle begins.
        takers : mapping
            The participants of an action: some components, all of them or one; a
            missing action has none.
        """
        own: dict[int, list[tuple[str, bool]]] = {}
        begins: dict[int, int] = {}  # the steps of a component before the cycle
        for step, action in enumerate(actions):
            components, all_move = takers.get(action, ((), True))
            for component in components:
                own.setdefault(component, []).append((action, all_move))
                if step < first:
                    begins[component] = begins.get(component, 0) + 1
        passed = {}
        for component, steps in own.items():
            begin = begins.get(component, 0)
            sets = self._components[component].passed(steps, begin)
            if sets is None:
                return None
            passed[component] = [_only(states) for states in sets]
        at = dict.fromkeys(own, 0)
        found = []
        for action in actions:
            components, _ = takers.get(action, ((), True))
            found.append(
                tuple((passed[c][at[c]], passed[c][at[c] + 1]) for c in components)
            )
            for component in components:
                at[component] += 1
        return found


def _only(states: States) -> int | None:
    """Return the one state of a set, if it has one."""
    return next(iter(states)) if len(states) == 1 else None


class _Component:
    """The transitions of a component, label by label."""

    def __init__(self, lts: LTS) -> None:
        self._lts = lts
        self._number = {label: k for k, label in enumerate(lts.labels)}
        self._steps: dict[str, dict[int, States]] = {}
        self._memo: dict[tuple[States, str, bool], States] = {}

    def passed(
        self, steps: Sequence[tuple[str, bool]], begin: int
    ) -> list[States] | None:
        """Return in which states it can be, before the first step and after each.

        Each step has a label, and whether it is certainly taken; after the last one the
        component is in its state before step `begin`.  None if there is no such run.
        """
        sets = [frozenset([self._lts.initial])]
        for label, is_certain in steps:
            sets.append(self._after(sets[-1], label, is_certain))
        sets[begin] = sets[-1] = sets[begin] & sets[-1]
        for k in range(len(steps) - 1, -1, -1):
            if len(sets[k]) > 1:
                sets[k] = self._leading(sets[k], steps[k], sets[k + 1])
        return sets if all(sets) else None

    def _after(self, states: States, label: str, is_certain: bool) -> States:
        key = (states, label, is_certain)
        if key not in self._memo:
            dst = self._by_label(label)
            found = states if not is_certain else frozenset()
            self._memo[key] = found.union(*(dst.get(state, ()) for state in states))
        return self._memo[key]

    def _leading(self, states: States, step: tuple[str, bool], into: States) -> States:
        """Return the states from which a step leads into some."""
        label, is_certain = step
        dst = self._by_label(label)
        return frozenset(
            state
            for state in states
            if dst.get(state, frozenset()) & into or (not is_certain and state in into)
        )

    def _by_label(self, label: str) -> dict[int, States]:
        """Return the targets of a label, for each state that has it."""
        if label not in self._steps:
            lts = self._lts
            chosen = np.flatnonzero(lts.label == self._number[label])
            found: dict[int, set[int]] = {}
            for src, dst in zip(
                lts.src[chosen].tolist(), lts.dst[chosen].tolist(), strict=True
            ):
                found.setdefault(src, set()).add(dst)
            self._steps[label] = {src: frozenset(d) for src, d in found.items()}
        return self._steps[label]


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
    lassos: Iterable[tuple[str, str, tuple[str, ...] | None] | None],
    load: Callable[[tuple[str, ...]], Network | None],
) -> Pictures:
    """Return what to draw.

    For each row `lassos` has prefix and cycle as in the result table, and the files
    that hold its system, if they are known; `load` returns the network that files hold,
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
    system_of: dict[tuple[str, ...] | None, int | None] = {None: None}
    drawn: dict[Picture, int] = {}
    number: dict[tuple[str, str, tuple[str, ...] | None], int] = {}
    left, has_all_states = REPLAYED, True
    for lasso, (prefix, cycle) in words.items():
        files = lasso[2]
        if files not in system_of:
            network = None if files is None else load(files)
            system_of[files] = None if network is None else len(looked_at)
            if network is not None:
                looked_at.append(_LookedAt(network))
        place = system_of[files]
        states = None
        if place is not None:
            left -= looked_at[place].n_moves([*prefix, *cycle])
            if left >= 0:
                states = looked_at[place].states(prefix, cycle)
            else:
                has_all_states = False
        first = _drawn(prefix, longest, names, states)
        again = _drawn(cycle, longest, names, states, len(prefix))
        if place is not None:
            looked_at[place].note(names, {*prefix, *cycle})
        # Long lassos that differ in the middle only look alike.
        picture = Picture(first, again, place)
        number[lasso] = drawn.setdefault(picture, len(drawn))
    of_row = [None if lasso is None else number[lasso] for lasso in rows]
    systems = [each.system() for each in looked_at]
    return Pictures(list(names), systems, list(drawn), of_row, has_all_states)


class _LookedAt:
    """A network, and the data shown from it."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._takers = parts_of(network)
        self._replay = Replay(network)
        self._parts: dict[int, Part] = {}
        self._states: dict[str, int] = {}  # names, in order of first use

    def n_moves(self, actions: Iterable[str]) -> int:
        """Return how many steps components take in a run."""
        none = Part((), True)
        return sum(len(self._takers.get(a, none).components) for a in actions)

    def states(
        self, prefix: Sequence[str], cycle: Sequence[str]
    ) -> Callable[[int], list[int]] | None:
        """Return the states before and after each step, by its number."""
        actions = [*prefix, *cycle]
        found = self._replay.changes(actions, len(prefix), self._takers)
        if found is None:
            return None

        def of_step(step: int) -> list[int]:
            part = self._takers.get(actions[step])
            who = () if part is None else part.components
            return [
                self._number(component, state)
                for component, change in zip(who, found[step], strict=True)
                for state in change
            ]

        return of_step

    def _number(self, component: int, state: int | None) -> int:
        if state is None:
            return UNKNOWN
        name = self._network.components[component].state_name(state)
        return self._states.setdefault(name, len(self._states))

    def note(self, names: dict[str, int], actions: Iterable[str]) -> None:
        """Record the participants of the shown actions, whose numbers `names` has."""
        for name in {*actions} & self._takers.keys() & names.keys():
            self._parts[names[name]] = self._takers[name]

    def system(self) -> System:
        """Return the data of the pictures."""
        internal = frozenset(a.name for a in self._network.actions if a.internal)
        components = [lts.name for lts in self._network.components]
        return System(components, self._parts, list(self._states), internal)


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
    for longest in LONGEST:
        total = sum(min(length, longest) * n for length, n in counts.items())
        if total <= BUDGET:
            return longest
    return LONGEST[-1]
