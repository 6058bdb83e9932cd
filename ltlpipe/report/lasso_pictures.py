"""What pictures of lassos show: the steps, and the components that take each.

In come the lassos of a result table and, where they can still be had, the systems;
out comes what the page's script draws as message sequences: one line per component,
one row per step, a dot where a component takes part.  Equal pictures are one; long
ones are cut in the middle, and say by how much.

A row knows the names of actions only.  An action that synchronises is taken by all
components that have it; an internal one by one of those that have one of its name,
and if there are several, the picture says that it is one of them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import LtlpipeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ltlpipe.systems.lts import Network

LONGEST = (120, 60, 24, 12)
"""Steps that are kept of a prefix or a cycle: the first that fits into `BUDGET`."""

BUDGET = 4_000_000
"""Steps that all pictures of a page may have together."""


class Drawn(NamedTuple):
    """The steps of a prefix or a cycle that are shown."""

    steps: tuple[int, ...]  # actions, as numbers of `Pictures.actions`
    left_out: int  # missing behind the first half of `steps` (the longer one)


class Picture(NamedTuple):
    """What is drawn of one lasso; `system` is a number of `Pictures.systems`."""

    prefix: Drawn
    cycle: Drawn
    system: int | None


class Part(NamedTuple):
    """Who takes an action: all of `components`, or one of them."""

    components: tuple[int, ...]
    all: bool


class System(NamedTuple):
    """What pictures need of a network."""

    components: list[str]
    parts: dict[int, Part]  # of the actions that occur


class Pictures(NamedTuple):
    """The pictures of a table."""

    actions: list[str]  # the names that occur
    systems: list[System]  # those that could be looked at
    pictures: list[Picture]  # each once
    of_row: list[int | None]  # the picture of each row of the table


def cut(steps: Sequence[str], longest: int) -> tuple[list[str], int]:
    """Return the first and last steps, `longest` together, and how many are left out.

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
    """Return who takes the actions of a network, by their names."""
    takers: dict[str, list[tuple[int, ...]]] = {}
    for action in network.actions:
        takers.setdefault(action.name, []).append(action.participants)
    return {
        name: Part(tuple(sorted({i for who in found for i in who})), len(found) == 1)
        for name, found in takers.items()
    }


class _Lasso(NamedTuple):
    """A lasso of a table: two columns, and the files of its system."""

    prefix: str
    cycle: str
    files: tuple[str, ...] | None


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
        Prefix or cycle is no JSON list of texts.
    """
    rows = [None if lasso is None else _Lasso(*lasso) for lasso in lassos]
    distinct = list(dict.fromkeys(lasso for lasso in rows if lasso is not None))
    words = {lasso: (_listed(lasso.prefix), _listed(lasso.cycle)) for lasso in distinct}
    longest = _longest(len(part) for both in words.values() for part in both)
    names = _Numbers()
    systems = _Systems(load, names)
    drawn: dict[Picture, int] = {}
    number: dict[_Lasso, int] = {}
    for lasso, both in words.items():
        prefix, cycle = (_drawn(part, longest, names) for part in both)
        system = systems.number(lasso.files)
        systems.note(system, {*prefix.steps, *cycle.steps})
        # Long lassos that differ in the middle only look alike.
        picture = Picture(prefix, cycle, system)
        number[lasso] = drawn.setdefault(picture, len(drawn))
    of_row = [None if lasso is None else number[lasso] for lasso in rows]
    return Pictures(names.names, systems.found, list(drawn), of_row)


def _drawn(steps: Sequence[str], longest: int, names: _Numbers) -> Drawn:
    kept, left_out = cut(steps, longest)
    return Drawn(tuple(map(names.__getitem__, kept)), left_out)


def _longest(lengths: Iterable[int]) -> int:
    """Return how many steps of each part can be kept."""
    counts = Counter(lengths)
    for longest in LONGEST:
        total = sum(min(length, longest) * n for length, n in counts.items())
        if total <= BUDGET:
            return longest
    return LONGEST[-1]


def _listed(text: str) -> list[str]:
    try:
        steps = json.loads(text)
    except (ValueError, RecursionError):
        steps = None
    if not isinstance(steps, list) or not {*map(type, steps)} <= {str}:
        raise LtlpipeError(
            f"lasso {text[:60]!r}: expected a JSON list of the names of actions"
        )
    return steps


class _Numbers(dict[str, int]):
    """Numbers of names in order of first use."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self.names)
        self.names.append(name)
        return number


class _Systems:
    """The systems that are loaded, and what is needed of them."""

    def __init__(
        self,
        load: Callable[[tuple[str, ...]], Network | None],
        names: _Numbers,
    ) -> None:
        self._load, self._names = load, names
        self._numbers: dict[tuple[str, ...], int | None] = {}
        self._parts: list[dict[str, Part]] = []
        self.found: list[System] = []

    def number(self, files: tuple[str, ...] | None) -> int | None:
        """Return the number of a system; None if it cannot be had."""
        if files is None:
            return None
        if files not in self._numbers:
            self._numbers[files] = self._added(files)
        return self._numbers[files]

    def note(self, number: int | None, actions: set[int]) -> None:
        """Note who takes some actions in a system."""
        if number is None:
            return
        known, parts = self._parts[number], self.found[number].parts
        for action in actions - parts.keys():
            name = self._names.names[action]
            if name in known:
                parts[action] = known[name]

    def _added(self, files: tuple[str, ...]) -> int | None:
        network = self._load(files)
        if network is None:
            return None
        self._parts.append(parts_of(network))
        names = [component.name for component in network.components]
        self.found.append(System(names, {}))
        return len(self.found) - 1
