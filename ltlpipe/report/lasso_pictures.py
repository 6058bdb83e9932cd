"""What pictures of lassos show: the steps, and the components that take each.

Input: the lassos of a result table and, if still available, the systems. Output: data
that the page's script draws as message sequences: one line per component, one row per
step, a dot where a component takes part.  Equal pictures are shared; long ones are cut
in the middle, with the number of omitted steps.

A row has only the names of actions; a replay computes the states of components
(`ltlpipe.report.passed_states`), as far as the actions determine them.  An action that
synchronises is taken by all components that have it; an internal one by one of those
that have one of its name, and if there are several, the picture says that it is one of
them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ltlpipe.batch.table import actions_in
from ltlpipe.report.passed_states import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.systems.networks.lts import Network

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
