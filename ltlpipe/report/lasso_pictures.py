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

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.batch.table import actions_in

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
    rows = list(lassos)
    words = {
        lasso: (actions_in(lasso[0]), actions_in(lasso[1]))
        for lasso in rows
        if lasso is not None
    }
    longest = _longest(len(part) for both in words.values() for part in both)
    names: dict[str, int] = {}  # of actions, in order of first use
    systems: list[System] = []
    takers: list[dict[str, Part]] = []  # by system
    system_of: dict[tuple[str, ...] | None, int | None] = {None: None}
    drawn: dict[Picture, int] = {}
    number: dict[tuple[str, str, tuple[str, ...] | None], int] = {}
    for lasso, both in words.items():
        prefix, cycle = (_drawn(part, longest, names) for part in both)
        files = lasso[2]
        if files not in system_of:
            network = None if files is None else load(files)
            system_of[files] = None if network is None else len(systems)
            if network is not None:
                systems.append(System([lts.name for lts in network.components], {}))
                takers.append(parts_of(network))
        system = system_of[files]
        if system is not None:
            for name in {*both[0], *both[1]} & takers[system].keys() & names.keys():
                systems[system].parts[names[name]] = takers[system][name]
        # Long lassos that differ in the middle only look alike.
        picture = Picture(prefix, cycle, system)
        number[lasso] = drawn.setdefault(picture, len(drawn))
    of_row = [None if lasso is None else number[lasso] for lasso in rows]
    return Pictures(list(names), systems, list(drawn), of_row)


def _drawn(steps: Sequence[str], longest: int, names: dict[str, int]) -> Drawn:
    kept, left_out = cut(steps, longest)
    return Drawn(tuple(names.setdefault(s, len(names)) for s in kept), left_out)


def _longest(lengths: Iterable[int]) -> int:
    """Return how many steps of each part can be kept."""
    counts = Counter(lengths)
    for longest in LONGEST:
        total = sum(min(length, longest) * n for length, n in counts.items())
        if total <= BUDGET:
            return longest
    return LONGEST[-1]
