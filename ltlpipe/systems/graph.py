"""Graphs of Spot as systems: Kripke structures, and automata whose runs are words.

The letters of a Kripke structure are the valuations of its states, those of an
automaton of its edges; a run of the system has the letter of the state that a step
leaves, or of the edge that it takes.  Of an automaton only runs count that its
acceptance condition accepts.  A condition that several valuations satisfy offers all of
them, step by step: what Spot's own product does.

For one property, the edges become transitions with letters (`Transitions`), one for
each letter that the edge offers; these are packed for the kernels, with a successor
function of the signature that `ltlpipe.systems.networks.packing` states.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.graphs import (
    Lists,
    decoded_graph,
    encoded_graph,
    graph_arrays,
    is_kripke,
    propositions_of,
)
from ltlpipe.runtime.arrays import ranges
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.objects import Displayed
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import allocation, row_of
from ltlpipe.systems.networks.packing import PACKING, PackedSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.graphs import Columns
    from ltlpipe.runtime.jobs import Job

_MOST_TRANSITIONS = (1 << 31) - 2
_MOST_DRAWN = 60  # states of a graph that a notebook draws


@dataclass(frozen=True, eq=False, repr=False)
class SpotGraph(Displayed):
    """A graph of Spot that is read as a system; `ltlpipe.load` makes one.

    Parameters
    ----------
    graph : spot.kripke_graph or spot.twa_graph
        What was read.  It must not change as long as this is used.
    name : str
        For messages and tables.
    propositions : tuple of str
        Those of the graph, in its order.
    n_states, initial : int
        States are those of the graph.
    n_edges : int
        Number of edges.
    n_marks : int
        How many marks there are.
    condition : Condition, optional
        What a run has to satisfy; None is each mark infinitely often.
    accepts_nothing : bool
        Whether no run can, whatever its marks.
    read : callable
        Returns the edges.
    lists : callable, optional
        Returns the edges where Spot keeps them, if all count.

    Attributes
    ----------
    src, dst : int32[m]
        Its edges, without those whose condition is false.
    number : int32[m]
        What Spot calls them.
    label : int32[m]
        Their conditions, as indices into `conditions`.
    marks : uint32[m]
        Their marks, as bits: those that the acceptance condition depends on.
    conditions : list of bdd
        The different conditions of edges, or states.
    state_label : int32[n_states], optional
        The conditions of the states of a Kripke structure; -1 where it is false.
    """

    graph: Any = field(repr=False)
    name: str
    propositions: tuple[str, ...]
    n_states: int
    initial: int
    n_edges: int
    n_marks: int
    condition: Condition | None
    accepts_nothing: bool
    read: Callable[[], Columns] = field(repr=False)
    lists: Callable[[], Lists] | None = field(repr=False)

    def _sizes(self) -> dict[str, int]:
        return {"state": self.n_states, "edge": self.n_edges}

    def keep(self) -> None:
        """Copy the edges now, so that later changes of the graph are noticed."""
        self._columns  # noqa: B018

    @cached_property
    def _columns(self) -> Columns:
        return self.read()

    src = property(lambda self: self._columns.src)
    dst = property(lambda self: self._columns.dst)
    number = property(lambda self: self._columns.number)
    label = property(lambda self: self._columns.label)
    marks = property(lambda self: self._columns.marks)
    conditions = property(lambda self: self._columns.conditions)
    state_label = property(lambda self: self._columns.state_label)

    @property
    def is_kripke(self) -> bool:
        """Whether letters are on states."""
        return is_kripke(self.graph)

    def dead_ends(self) -> np.ndarray:
        """Return the states without edges, int64[k]."""
        left = np.zeros(self.n_states, dtype=np.bool_)
        left[self.src] = True
        return np.flatnonzero(~left)

    @property
    def state_based(self) -> bool:
        """Whether the edges that leave a state all carry the same marks."""
        if not self.n_marks:
            return True
        of_state = np.zeros(self.n_states, dtype=np.uint32)
        of_state[self.src] = self.marks
        return bool(np.array_equal(of_state[self.src], self.marks))

    def __reduce__(self) -> Any:
        return graph_from_data, (graph_to_data(self), self.number)

    def _repr_svg_(self) -> str | None:
        """Return Spot's picture of a small graph, where Graphviz is installed."""
        if self.n_states > _MOST_DRAWN or shutil.which("dot") is None:
            return None
        picture: str = self.graph._repr_svg_()
        return picture


def graph_system(graph: Any) -> SpotGraph:
    """Do `graph_job` at once."""
    return complete(graph_job(graph))


def graph_job(graph: Any) -> Job[SpotGraph]:
    """Return a graph of Spot as a system.

    Raises
    ------
    UnsupportedError
        It has no states, or is alternating.
    """
    arrays = yield from graph_arrays(graph)
    default = "Kripke structure" if is_kripke(graph) else "automaton"
    return SpotGraph(
        graph=graph,
        name=graph.get_name() or default,
        propositions=propositions_of(graph),
        **arrays,
    )


def graph_to_data(system: SpotGraph) -> dict[str, Any]:
    """Return a graph as plain data, which `ltlpipe.runtime.wire` can send."""
    return encoded_graph(system)


def graph_from_data(
    data: dict[str, Any], number: np.ndarray | None = None
) -> SpotGraph:
    """Return the graph that `graph_to_data` was given, as far as verdicts can tell.

    Its edges have the numbers int32[m], as those of a lasso have to, if they are given.
    """
    return graph_system(decoded_graph(data, number))


def lists_of(system: SpotGraph) -> Lists:
    """Return the edges of a graph as lists; m edges, counted from 1."""
    if system.lists is not None and "_columns" not in vars(system):
        return system.lists()  # what was copied before stays as it was
    n_edges = system.n_edges
    # The layout of Spot, so that kernels are the same.
    table = np.zeros((n_edges + 1, 5), dtype=np.uint32)
    src, dst, _, marks, following = columns = table.T
    src[1:], dst[1:], marks[1:] = system.src, system.dst, system.marks
    order = np.argsort(system.src, kind="stable")
    sources = system.src[order]
    same = sources[1:] == sources[:-1]
    following[order[:-1][same] + 1] = order[1:][same] + 1
    first = np.zeros((system.n_states, 2), dtype=np.uint32)[:, 0]
    begins = np.flatnonzero(np.append(True, ~same)[:n_edges])
    first[sources[begins]] = order[begins] + 1
    return Lists._make([*columns, first, (1 << system.n_marks) - 1])


class Keys(NamedTuple):
    """What letters are made of: conditions, maybe with sets of marks.

    Parameters
    ----------
    conditions : int32[k]
        Indices into the conditions of the graph.
    marks : uint32[k]
        Sets of marks; zeros if they tell nothing apart.
    of_edge : int32[m]
        The key of each edge.
    """

    conditions: np.ndarray
    marks: np.ndarray
    of_edge: np.ndarray


def keys_of(system: SpotGraph, *, with_marks: bool) -> Keys:
    """Return what the letters of a graph are made of."""
    if not with_marks:
        conditions = np.arange(len(system.conditions), dtype=np.int32)
        return Keys(conditions, np.zeros_like(conditions, np.uint32), system.label)
    both = system.label.astype(np.int64) << 32 | system.marks
    different, of_edge = np.unique(both, return_inverse=True)
    return Keys(
        (different >> 32).astype(np.int32),
        (different & 0xFFFFFFFF).astype(np.uint32),
        of_edge.astype(np.int32),
    )


class Transitions(NamedTuple):
    """The steps of a graph with n states for one property, ordered by source.

    Parameters
    ----------
    first : int64[n + 1]
        Those of a state s are ``first[s]`` up to ``first[s + 1]``.
    dst, letter : int32[t]
        Where they lead, and what the property sees of them.
    marks : uint32[t]
        Marks of the graph, as bits.
    edge : int32[t]
        The edges that they come from, as indices; -1 where a state repeats itself.
    """

    first: np.ndarray
    dst: np.ndarray
    letter: np.ndarray
    marks: np.ndarray
    edge: np.ndarray


def unlabelled(system: SpotGraph) -> Transitions:
    """Return the steps of a graph with one letter for all, whatever it accepts."""
    n = system.n_edges
    columns = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.uint32)
    edges = np.arange(n, dtype=np.int32)
    return _ordered(system.n_states, system.src, system.dst, *columns, edges)


def transitions_of(
    system: SpotGraph,
    keys: Keys,
    letters: list[list[int]],
    *,
    tells_marks: bool = False,
    stutters: bool = False,
) -> Job[Transitions]:
    """Return the steps of a graph for one property.

    Parameters
    ----------
    system : SpotGraph
        One that accepts nothing has no steps.
    keys : Keys
        What letters are made of.
    letters : list of list of int
        The letters of each key.
    tells_marks : bool
        Whether letters tell marks; then steps have none.
    stutters : bool
        Whether a state without edges repeats itself, of a Kripke structure.

    Raises
    ------
    UnsupportedError
        There are too many.
    """
    yield Progress(PACKING)
    n_letters = np.array([len(some) for some in letters], dtype=np.int64)
    flat = np.array([a for some in letters for a in some], dtype=np.int32)
    begins = np.cumsum(n_letters) - n_letters
    has_one = bool((n_letters == 1).all())

    def offered(of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places of keys, each once per letter, and these letters."""
        counts = n_letters[of]
        if counts.sum() > _MOST_TRANSITIONS:
            raise UnsupportedError(
                f"the edges have {counts.sum():,} letters together, the limit is "
                f"{_MOST_TRANSITIONS:,}"
            )
        if has_one:
            return np.arange(len(of), dtype=np.int32), flat[of]
        place = np.repeat(np.arange(len(of), dtype=np.int32), counts)
        return place, flat[ranges(begins[of], counts)]

    if system.accepts_nothing:
        keys = keys._replace(of_edge=keys.of_edge[:0])
    edge, letter = offered(keys.of_edge)
    yield Progress(PACKING, work=0.05 * len(edge), memory_bytes=100.0 * len(edge))
    kept: Any = slice(len(edge)) if has_one else edge  # nothing is copied
    src, dst, marks = system.src[kept], system.dst[kept], system.marks[kept]
    if tells_marks:
        marks = np.zeros_like(marks)
    if stutters and system.state_label is not None:
        states = system.dead_ends().astype(np.int32)
        states = states[system.state_label[states] >= 0]
        # A Kripke structure has no marks: its keys are its conditions.
        again, more = offered(system.state_label[states])
        src = np.concatenate([src, states[again]])
        dst = np.concatenate([dst, states[again]])
        letter = np.concatenate([letter, more])
        marks = np.concatenate([marks, np.zeros(len(again), dtype=np.uint32)])
        edge = np.concatenate([edge, np.full(len(again), -1, dtype=np.int32)])
    return _ordered(system.n_states, src, dst, letter, marks, edge)


def _ordered(n_states: int, src: np.ndarray, *columns: np.ndarray) -> Transitions:
    """Return transitions ordered by their sources."""
    first = np.zeros(n_states + 1, dtype=np.int64)
    np.cumsum(np.bincount(src, minlength=n_states), out=first[1:])
    if np.any(src[1:] < src[:-1]):
        order = np.argsort(src, kind="stable")
        columns = tuple(column[order] for column in columns)
    return Transitions(first, *columns)


def pack_graph(
    system: SpotGraph,
    steps: Transitions,
    *,
    extra_values: int = 1,
    seed: int | None = None,
    accepts: bool = True,
) -> Job[PackedSystem]:
    """Lay out the tables of a graph for one property.

    Parameters
    ----------
    system : SpotGraph
        It is not changed.
    steps : Transitions
        Those for the property; their numbers are the actions.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated.
    accepts : bool
        Whether the marks of steps, and the graph's condition, count.
    """
    # Imported here: reading graphs needs no Numba.
    from ltlpipe.systems.successor_kernels import HALF, Header, expand_graph

    own, extra = yield from allocation([system.n_states, extra_values], Ticks(PACKING))
    n, t = system.n_states, len(steps.dst)
    yield Progress(PACKING, work=0.05 * t, memory_bytes=16.0 * t + 8.0 * n)
    order = _shuffled(steps.first, seed) if seed is not None else slice(None)
    ints = np.zeros(len(Header) + n + 1 + 2 * t, dtype=np.int64)
    place = len(Header) + n + 1
    ints[: len(Header)] = (own.word, own.shift, own.mask, len(Header), place)
    ints[len(Header) : place] = steps.first
    letters, marks = (
        column.astype(np.int64) << HALF for column in (steps.letter, steps.marks)
    )
    ints[place::2] = (steps.dst | letters)[order]
    ints[place + 1 :: 2] = (np.arange(1, t + 1) | marks)[order]
    n_words = 1 + max(own.word, extra.word)
    return PackedSystem(
        expand=expand_graph,
        ints=ints,
        words=np.zeros(0, dtype=np.uint64),
        initial=row_of([own], [system.initial], n_words),
        extra=extra,
        fields=(own,),
        max_successors=max(int(np.diff(steps.first).max()), 1),
        n_marks=system.n_marks if accepts else 0,
        condition=system.condition if accepts else None,
        state_based=not accepts or system.state_based,
    )


def _shuffled(first: np.ndarray, seed: int) -> np.ndarray:
    """Return the steps in a random order within each state."""
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(len(first) - 1), np.diff(first))
    return np.lexsort((rng.random(len(src)), src))
