"""Content of a sequence chart, independent of the format: lifelines, rows, cells.

A lifeline (*lane*) is a component of a network that takes part in a step; of a model a
process that moves, or a variable that changes.  Each step is a *row* with a *cell* on
the lanes that take part, with their next state.  Long lassos are cut: one row
represents the omitted steps, with the states after them.  In wide systems the lanes
that move least are one lane, *others*.

Texts come from input files: they are made one line without control characters here.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.propositions.syntax import variables_in
from ltlpipe.report.graphs import short
from ltlpipe.runtime.errors import FormulaError, silenced
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.verdict.lasso import situation, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.verdict.lasso import Lasso, LassoStep

LEAST_STEPS = 12
"""The first, the last, and those around the places that matter."""

_LONGEST = 200  # characters of a name; renderers cut them further


class Lane(NamedTuple):
    """A lifeline."""

    name: str
    initial: str  # the name of its first state, or its first value
    moves: bool = True  # a component or a process; False: a variable


class Cell(NamedTuple):
    """What a step does to a lane."""

    lane: int
    before: str
    after: str


class Row(NamedTuple):
    """A step, or omitted steps."""

    number: int  # of the step, or the first omitted one, from 1
    action: str
    cells: tuple[Cell, ...]  # by lane; of steps left out those that have changed
    named: bool = False  # a proposition of the formula holds at the step
    irrelevant: bool = False  # after the bad prefix
    left_out: int = 0  # the number of omitted steps; 0: it is a step
    arrow: tuple[int, int] | None = None
    """The lanes from where and to where a message goes."""


class ChartedLasso(NamedTuple):
    """A chart, before it is drawn.

    Parameters
    ----------
    lanes : tuple of Lane
        From left to right.
    rows : tuple of Row
        From top to bottom.
    first : int
        The row in which the cycle begins; it ends with the last one.
    lost : int or None
        The number of rows up to the end of the bad prefix, if it ends in the chart.
    notes : tuple of str
        The lines below the chart.
    """

    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    first: int
    lost: int | None
    notes: tuple[str, ...]

    @property
    def lost_note(self) -> str:
        """The text at the end of the bad prefix."""
        n_steps = sum(max(row.left_out, 1) for row in self.rows[: self.lost])
        what = "this step" if n_steps == 1 else f"these {n_steps} steps"
        return f"violated by {what}: what follows does not matter"

    def states(self) -> Iterator[tuple[int, str]]:
        """Yield the states that are shown, and their lanes."""
        yield from ((k, lane.initial) for k, lane in enumerate(self.lanes))
        yield from ((cell.lane, cell.after) for row in self.rows for cell in row.cells)

    @property
    def has_named(self) -> bool:
        """Whether the formula names some step that is shown."""
        return any(row.named for row in self.rows)


def kept(n_steps: int, most: int, around: Iterable[int] = ()) -> list[int | None]:
    """Return the steps to show: the first, those around places, and the last.

    None marks omitted steps.

    Examples
    --------
    >>> kept(100, 8, [50])
    [0, 1, None, 49, 50, None, 98, 99]
    """
    if n_steps <= most:
        return [*range(n_steps)]
    places = sorted({place for place in around if 0 < place < n_steps})
    share = most // (2 + len(places))
    wanted = {*range(share), *range(n_steps - share, n_steps)}
    for place in places:
        begin, end = place - share // 2, place + share // 2
        wanted |= {*range(max(begin, 0), min(end, n_steps))}
    shown: list[int | None] = []
    for step in sorted(wanted):
        last = shown[-1] if shown else step - 1
        assert last is not None
        if last == step - 2:  # a step takes no more room than the note of its omission
            shown.append(step - 1)
        elif last != step - 1:
            shown.append(None)
        shown.append(step)
    return shown


def charted(lasso: Lasso, most_steps: int, most_lanes: int) -> ChartedLasso:
    """Return the contents of a chart of a lasso."""
    n_steps, first = len(lasso.actions), len(lasso.prefix)
    lost = lasso.bad_prefix
    if lost is not None and lost > n_steps:  # in a later round of the cycle
        lost = None
    around = [first] if lost is None else [first, lost]
    shown = kept(n_steps, max(most_steps, LEAST_STEPS), around)
    numbers = [step for step in shown if step is not None]
    steps = dict(zip(numbers, steps_of(lasso, numbers), strict=True))
    initial = situation(lasso, 0)
    names = _in_order(lasso, initial, steps.values())
    lanes = _Lanes(names, _kept_lanes(names, steps.values(), most_lanes), initial)
    rows = _rows(lasso, shown, steps, lanes, lost)
    places = [row.number + max(row.left_out, 1) - 1 for row in rows]  # last steps
    return ChartedLasso(
        _laid_out(lasso, lanes),
        tuple(rows),
        sum(place <= first for place in places),
        None if lost is None else sum(place <= lost for place in places),
        tuple(_notes(lasso, names, cut=None in shown)),
    )


def _in_order(
    lasso: Lasso, initial: dict[str, Any], steps: Iterable[LassoStep]
) -> list[str]:
    """Return who takes part in steps, and what the formula names: processes first."""
    told = dict.fromkeys(move.name for step in steps for move in step.moves)
    told |= dict.fromkeys(_named_variables(lasso))
    processes = lasso.system.processes if isinstance(lasso.system, Model) else ()
    order = dict.fromkeys([*processes, *initial, *told])
    return [name for name in order if name in told]


def _named_variables(lasso: Lasso) -> list[str]:
    """Return the variables of a model that the propositions of a run name."""
    system, spelling = lasso.system, lasso.spelling
    if not isinstance(system, Model) or spelling is None:
        return []
    found: list[int] = []
    for text in spelling.propositions:
        with suppress(FormulaError), silenced():  # never true: it names nothing
            found += variables_in(system.meaning(text))
    return [system.shown_name(number) for number in found]


def _kept_lanes(
    names: Sequence[str], steps: Iterable[LassoStep], most: int
) -> list[str]:
    """Return the lanes: of too many those that move most, named ones first."""
    if len(names) <= most:
        return list(names)
    weight: Counter[str] = Counter()
    for step in steps:
        for move in step.moves:
            weight[move.name] += 1 + 1000 * bool(step.holds)
    place = {name: number for number, name in enumerate(names)}
    best = sorted(names, key=lambda name: (-weight[name], place[name]))
    return sorted(best[: max(most - 1, 0)], key=place.__getitem__)


class _Lanes:
    """The lanes of the participants, and their known states."""

    def __init__(
        self, names: Sequence[str], kept: Sequence[str], initial: dict[str, Any]
    ) -> None:
        self.kept = kept
        self.initial = initial
        self.n_others = len(names) - len(kept)
        self._place = {name: number for number, name in enumerate(kept)}
        self._last = {name: _text(initial.get(name, 0)) for name in kept}

    def cells(self, step: LassoStep) -> tuple[Cell, ...]:
        """Return the cells of a step."""
        found, others = [], []
        for name, before, after in step.moves:
            if name in self._place:
                self._last[name] = _text(after)
                found.append(Cell(self._place[name], _text(before), _text(after)))
            else:
                others.append((name, before, after))
        if others:
            (name, before, after), *rest = others
            told = f"{len(others)} move" if rest else _text(name)
            change = "" if rest else f"{_text(name)}: {_text(before)}"
            found.append(Cell(len(self.kept), change, told))
        return tuple(sorted(found))

    def arrow(self, lasso: Lasso, step: int) -> tuple[int, int] | None:
        """Return the lanes between which a message goes in a step."""
        action = int(lasso.actions[step])
        if not isinstance(lasso.system, Model) or action < 0:
            return None
        before, after = (tuple(lasso.states[k].tolist()) for k in (step, step + 1))
        ends = lasso.system.message(action, before, after) or ()
        places = [self._place[name] for name in ends if name in self._place]
        return (places[0], places[1]) if len({*places}) == 2 else None

    def cells_of_gap(self, after: dict[str, Any]) -> tuple[Cell, ...]:
        """Return the cells of lanes whose state differs after omitted steps."""
        found = []
        for name, place in self._place.items():
            now, last = _text(after.get(name, 0)), self._last[name]
            if now != last:
                found.append(Cell(place, last, now))
                self._last[name] = now
        return tuple(found)


def _rows(
    lasso: Lasso,
    shown: Sequence[int | None],
    steps: dict[int, LassoStep],
    lanes: _Lanes,
    lost: int | None,
) -> list[Row]:
    rows = []
    # Without a property the word of a graph's run is over all propositions.
    is_asked = lasso.formula is not None or not hasattr(lasso.system, "graph")
    end = 0  # of the steps so far
    for place, number in enumerate(shown):
        irrelevant = lost is not None and end >= lost
        if number is None:
            until = shown[place + 1]
            assert until is not None
            cells = lanes.cells_of_gap(situation(lasso, until))
            rows.append(Row(end + 1, "", cells, False, irrelevant, until - end))
            end = until
        else:
            step = steps[number]
            cells, named = lanes.cells(step), is_asked and bool(step.holds)
            end = number + 1
            action = _text(step.action)
            arrow = lanes.arrow(lasso, number)
            rows.append(Row(end, action, cells, named, irrelevant, arrow=arrow))
    return rows


def _laid_out(lasso: Lasso, lanes: _Lanes) -> tuple[Lane, ...]:
    is_network = isinstance(lasso.system, Network) or not lasso.has_valuations
    processes = lasso.system.processes if isinstance(lasso.system, Model) else ()
    initial = {name: _text(lanes.initial.get(name, 0)) for name in lanes.kept}
    laid = [
        Lane(_text(name), state, is_network or name in processes)
        for name, state in initial.items()
    ]
    if lanes.n_others:
        laid.append(Lane(f"{lanes.n_others} others", ""))
    return tuple(laid)


def _notes(lasso: Lasso, names: Sequence[str], *, cut: bool) -> list[str]:
    """Return notes on omissions, and on a bad prefix that ends outside the chart."""
    notes: list[str] = []
    if lasso.has_valuations:
        # Of a graph's finite run only the states are told.
        if not lasso.cycle and hasattr(lasso.system, "graph"):
            return notes
        when = " in the steps that are shown" if cut else ""
        notes.append(f"all other variables stay as they are{when}")
    else:
        total = lasso.states.shape[1]
        still = total - len(names)
        if still:
            notes.append(
                f"without a line: {still} of {total} components, which take part in "
                "no step that is shown"
            )
    lost, n_steps = lasso.bad_prefix, len(lasso.actions)
    if lost is not None and lost > n_steps:
        again = (lost - len(lasso.prefix) - 1) // len(lasso.cycle) + 1
        notes.append(
            f"violated by the first {lost} steps, in round {again} of the cycle: no "
            "continuation of them satisfies the formula"
        )
    return notes


def shortened(text: str, most: int, dots: str = "…") -> str:
    """Return a text without its middle: ends of names often distinguish them.

    Examples
    --------
    >>> shortened("component_17", 8)
    'comp…_17'
    """
    if len(text) <= most:
        return text
    if most <= len(dots) + 1:
        return text[: max(most, 0)]
    tail = (most - len(dots)) // 2
    return text[: most - len(dots) - tail] + dots + text[len(text) - tail :]


def _text(value: Any) -> str:
    return short(str(value), _LONGEST)
