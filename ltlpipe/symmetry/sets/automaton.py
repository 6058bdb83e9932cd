"""What an automaton over sets of states offers to the searches.

Its states are rows of 64-bit words, each of which stands for a set of states of an
*underlying* automaton.  Five properties tie the two (Def. 5 of the source): sets are
not empty (1); the marks are the same (2); the initial sets make up the initial states
(3); what a state of a set can reach in one step is in a successor of the set, with the
same marks (4); and each state of a successor can be reached in one step from some state
of the set, with the same marks (5).  Then both accept a run, or neither.

All operations have one signature and are called through pointers, so that the searches
are compiled once::

    operation(tables, row, other, out_rows, out_marks) -> number

tables : Tables
    The automaton's own.
row, other : uint64[n_words]
    One set or two.
out_rows, out_marks : uint64[k, n_words], uint32[k]
    Results that are sets.

``successors``
    Writes the successors of `row` and the marks of the transitions to them; returns
    their number.  If there are more, ``-2 - n`` says that n are written, and the next
    call, with an empty `other` (uint64[0]), goes on behind them; before it no other
    operation may use the tables.  -1 says that those of one state alone do not fit.
``includes``
    Returns 1 if the set `row` includes the set `other`, else 0.
``decompose``
    `other` is included in `row`: writes sets that are disjoint from it and make up
    `row` with it; returns their number, or -1 if there are more than k.
``key``
    Returns a number that is the same for sets of which one includes the other.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Secs. 2, 3 and 6.3.

Differences from the source: Decomp returns what completes the given subset, not that
subset itself; the key stands for both levels of the hash table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from ltlpipe.runtime.jobs import Job


class Tables(NamedTuple):
    """The tables and buffers of the operations; their use is the automaton's affair."""

    ints: np.ndarray  # int64[...]
    words: np.ndarray  # uint64[...]
    scratch: np.ndarray  # int64[k, m]
    step_rows: np.ndarray  # uint64[s, n_words]


class Operations(NamedTuple):
    """Four functions of one signature, as kernels take them, and the tables."""

    successors: Any
    includes: Any
    decompose: Any
    key: Any
    tables: Tables


@dataclass(frozen=True)
class PowersetAutomaton:
    """An automaton over sets, as the searches take it.

    A run is accepted iff it sees each mark infinitely often.  If a successor was made
    larger than it is (`widened`), property 5 may not hold, and a run that is accepted
    need not be there; `narrow` makes successors what they are from then on.
    """

    successors: Callable[..., int]  # the operations, not yet compiled
    includes: Callable[..., int]
    decompose: Callable[..., int]
    key: Callable[..., int]
    tables: Tables  # the buffers serve one search at a time
    initial: np.ndarray  # uint64[n, n_words], the initial sets, n >= 1
    n_marks: int
    widened: Callable[[], bool] = lambda: False
    narrow: Callable[[], None] = lambda: None

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return int(self.initial.shape[1])

    @property
    def _functions(self) -> tuple[Callable[..., int], ...]:
        return self.successors, self.includes, self.decompose, self.key

    def ready(self) -> Job[None]:
        """Have the operations compiled, or load their machine code."""
        from ltlpipe.runtime.kernels.compilation import ready_pointer
        from ltlpipe.runtime.kernels.jit import operation_signature

        signature = operation_signature(Tables)
        for function in self._functions:
            yield from ready_pointer(function, signature)

    def operations(self) -> Operations:
        """Return the operations as kernels take them."""
        from ltlpipe.runtime.kernels.jit import operation_signature, pointer

        signature = operation_signature(Tables)
        made = (pointer(function, signature) for function in self._functions)
        return Operations(*made, self.tables)
