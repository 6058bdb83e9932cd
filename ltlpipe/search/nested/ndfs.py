"""Nested depth-first searches, as variants of one kernel.

All decide whether a product whose acceptance is at most one mark, the same on all
transitions that leave a state, has a reachable accepting cycle: a blue search visits
every state, and a red one from each accepting state that blue is about to leave looks
for a cycle through it.  In what they differ `Rules` says.

=================== =======================================================
``cvwy92``          Fig. 1: red ends at its seed only, and goes where blue has
                    not been.  `Reg.VISITED` counts each state once,
                    whichever search comes first.
``hpy96``           Sec. 3.1: red ends at any state on the blue stack, which
                    is bound to reach the seed.
``gmz04``           Sec. 3.1: blue, too, reports a transition back to an
                    accepting state on its stack; and a state all of whose
                    successors are black at the end of its blue visit becomes
                    black, and red searches pass it by.
``se05``            Fig. 3: blue reports transitions back to the stack from
                    accepting states, too.
``dfs-weak``        Sec. 5.1, for weak automata: no red search, since all
                    states of a cycle accept or none does, and every cycle is
                    closed on the stack.
``reach-terminal``  The same for terminal automata, where an accepting state
                    accepts every infinite run of the system.  The product sees
                    to that for all searches: where the state of the property is
                    one of its ``ends``, the state repeats itself
                    (`ltlpipe.search.product.system_steps`).
=================== =======================================================

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification Algorithms", TACAS
2005, LNCS 3440, pp. 174-190, to which figures and sections refer, and as they give
them: C. Courcoubetis, M. Vardi, P. Wolper and M. Yannakakis, "Memory-Efficient
Algorithms for the Verification of Temporal Properties", FMSD 1992; G. Holzmann, D.
Peled and M. Yannakakis, "On Nested Depth First Search", SPIN 1996; P. Gastin, P. Moro
and M. Zeitoun, "Minimization of Counterexamples in SPIN", SPIN 2004; I. Cerna and R.
Pelanek, "Relating Hierarchy of Temporal Properties to Model Checking", MFCS 2003.

Differences from the sources:

- The order of ``post`` is "known states first" (`ltlpipe.search.stacks`).
- All have the four colours of Fig. 3.  In hpy96 and gmz04 the flags "blue", "red" and
  "on the stack" occur in these combinations only: a red state is blue (Sec. 3.2), and
  only a seed is red and on the stack, which it leaves as red.
- gmz04: a state that a red search has left without a cycle lies on no accepting run, as
  a black one does not: RED says both.  The visit that decides whether a state is black
  serves the red search from it, too.
- se05, line 7 asks whether `t` is accepting only while some accepting state is cyan.
- With ample sets (`ltlpipe.search.reduced`) the blue search leaves steps out.  The
  red one takes the same steps ("stored"), or all that lead to states which the blue
  one has met ("full").  A cyan state that it reaches over a step left out closes a
  cycle of the whole product, so nothing wrong is found; and nothing is missed, for
  what follows is said of the steps that the blue search took.

Invariants, but of cvwy92: a state is cyan iff it has a blue marker on the stack
(asserted by `tests.invariants`); while no red search runs, every successor of a red
state by a step that the blue search took is red.

Cost: two bits of colour per state, two bytes more for "stored" ample sets; four bytes
of stack per state on the path and per state that waits (`ltlpipe.search.stacks`); at
most two looks at every transition, three in gmz04, one without a red search.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ltlpipe.por.component_sets import MAX_SEED, Inner, Reduction, highest_seed
from ltlpipe.runtime.errors import ReplayError, UnsupportedError
from ltlpipe.runtime.kernels.jit import inlined, njit, specialised
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.search.emptiness import Search
from ltlpipe.search.growth import INT32, Column
from ltlpipe.search.interning import row_of, rows_of
from ltlpipe.search.paths import PathFinder
from ltlpipe.search.product import at_limit, is_full, leaves_accepting
from ltlpipe.search.reduced import visit_again, visit_first
from ltlpipe.search.registers import PRIVATE, Reg, Status
from ltlpipe.search.stacks import (
    COLOURS,
    Colour,
    accepts_row,
    close_gaps,
    colour_of,
    forget_coloured,
    is_accepting,
    marker,
    pop_frame,
    push_frame,
    push_waiting,
    set_colour,
    stack_frames,
    swept,
    unpacked_colours,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.emptiness import ProductLasso
    from ltlpipe.search.growth import Layout
    from ltlpipe.search.problem import Problem


class NestedReg(IntEnum):
    """Places in the registers that these searches have beside `Reg`."""

    ACCEPTING = PRIVATE  # accepting states on the blue stack


_YES = np.zeros(0, dtype=np.uint8)


class Rules(NamedTuple):
    """In what the searches differ: by type, a rule that does not hold being None."""

    to_seed: np.ndarray | None = None  # red ends at its seed only
    source: np.ndarray | None = None  # blue reports steps back from accepting states
    target: np.ndarray | None = None  # blue reports steps back to accepting states
    black: np.ndarray | None = None  # a state with black successors only becomes black
    blue_only: np.ndarray | None = None  # there is no red search


class Arrays(NamedTuple):
    """The arrays of one search: room for n states, k stack entries."""

    colours: np.ndarray  # uint8[n / 4], two bits per state
    stack: np.ndarray  # int32[k]
    rules: Rules
    reduction: Reduction | None  # for ample sets


# Where red ends at its seed only, the searches know nothing of each other: the bit
# that BLUE has says that blue has entered a state, that of CYAN that red has.


@specialised
def waits_for_blue(to_seed, colour):
    """Whether the blue search is to enter a state of this colour."""
    if to_seed is not None:
        return colour & Colour.BLUE == 0
    return colour == Colour.WHITE


@specialised
def waits_for_red(to_seed, colour):
    """Whether the red search is to enter a state of this colour."""
    if to_seed is not None:
        return colour & Colour.CYAN == 0
    return colour == Colour.BLUE


@specialised
def entered_colour(to_seed, colour):
    """Return the colour of a state that the blue search enters."""
    if to_seed is not None:
        return colour | Colour.BLUE
    return np.int64(Colour.CYAN)


@specialised
def set_left_colour(to_seed, colours, state, colour):
    """Give a state that the blue search leaves its colour."""
    if to_seed is None:
        set_colour(colours, state, colour)


@specialised
def closes_red(to_seed, colour, is_seed):
    """Whether a red step to a state of this colour closes an accepting cycle."""
    if to_seed is not None:
        return is_seed
    return colour == Colour.CYAN


@specialised
def closes_blue(source, target, expand, product, store, accepting, dst):
    """Whether a blue step back to the cyan state `dst` closes an accepting cycle.

    It is one from an `accepting` state or not; some state on the stack accepts.
    """
    closes = False
    if source is not None:
        closes = accepting
    if target is not None:
        closes = closes or is_accepting(expand, product, row_of(product, store, dst))
    return closes


@specialised
def is_first_best(blue_only):
    """Whether the first of the steps that close a cycle is reported, or the last."""
    return blue_only is None


@inlined
def enter_blue(expand, product, store, registers, arrays, state, colour):
    """Enter a state of a colour (Fig. 3, lines 4-9) and stack what waits for blue."""
    colours, rules = arrays.colours, arrays.rules
    set_colour(colours, state, entered_colour(rules.to_seed, colour))
    n = visit_first(expand, product, store, registers, state, colours, arrays.reduction)
    accepting = leaves_accepting(product, n)
    registers[Reg.VISITED] += colour == Colour.WHITE
    registers[NestedReg.ACCEPTING] += accepting
    push_frame(registers, arrays, marker(state, np.int64(accepting)))
    status = Status.RUNNING
    for i in range(n - 1, -1, -1):  # the first successor ends on top
        dst = product.ids[i]
        of_dst = colour_of(colours, dst)
        if waits_for_blue(rules.to_seed, of_dst):
            push_waiting(registers, arrays, dst)
        elif (
            of_dst == Colour.CYAN
            and registers[NestedReg.ACCEPTING] > 0
            and closes_blue(
                rules.source, rules.target, expand, product, store, accepting, dst
            )
        ):  # lines 6-8
            registers[Reg.CLOSING] = dst
            status = Status.FOUND
            if is_first_best(rules.blue_only):
                break
    return status


@inlined
def leave_blue(registers, arrays, entry, colour):
    """Take the blue frame on top, `entry`, off the stack (lines 13-15)."""
    state, accepting = (-1 - entry) >> 1, (-1 - entry) & 1
    set_left_colour(arrays.rules.to_seed, arrays.colours, state, colour)
    registers[NestedReg.ACCEPTING] -= accepting
    registers[Reg.RED_BASE] = 0
    pop_frame(registers)


@inlined
def enter_red(product, registers, arrays, state, n):
    """Enter a state whose `n` successors have been generated (lines 17-22)."""
    colours, rules = arrays.colours, arrays.rules
    colour = colour_of(colours, state)
    registers[Reg.VISITED] += colour == Colour.WHITE
    set_colour(colours, state, colour | Colour.CYAN)  # BLUE gets RED; a seed stays CYAN
    seed = (-1 - np.int64(arrays.stack[registers[Reg.RED_BASE] - 1])) >> 1
    for i in range(n - 1, -1, -1):
        dst = product.ids[i]
        if dst < 0:  # left out by the blue search
            continue
        of_dst = colour_of(colours, dst)
        if closes_red(rules.to_seed, of_dst, dst == seed):
            registers[Reg.CLOSING] = dst
            return Status.FOUND
        if waits_for_red(rules.to_seed, of_dst):
            push_waiting(registers, arrays, dst)
    return Status.RUNNING


@specialised
def looks_again(black, blue_only, accepting):
    """Whether a state is expanded once more at the end of its blue visit."""
    if blue_only is not None:
        return False
    if black is not None:
        return True
    return accepting != 0


@specialised
def becomes_black(black, colours, ids, n):
    """Whether all of `n` successors are black."""
    if black is None:
        return False
    for i in range(n):  # noqa: SIM110 (a kernel has no `all`)
        if colour_of(colours, ids[i]) != Colour.RED:
            return False
    return True


@inlined
def look_again(expand, product, store, registers, arrays, state, entry):
    """Generate the successors of a state for the red search, and go on from there.

    Where `entry` on the stack is its blue frame, a red search begins (lines 11-12)
    unless the state turns out to need none.
    """
    colours, rules = arrays.colours, arrays.rules
    n = visit_again(expand, product, store, registers, state, colours, arrays.reduction)
    if entry < 0:
        black = becomes_black(rules.black, colours, product.ids, n)
        if black or (-1 - entry) & 1 == 0:
            leave_blue(registers, arrays, entry, Colour.RED if black else Colour.BLUE)
            return Status.RUNNING
        registers[Reg.RED_BASE] = registers[Reg.TOP]
    return enter_red(product, registers, arrays, state, n)


@njit
def ndfs_step(expand, product, store, registers, arrays, budget):
    """Advance a nested DFS by the rules of its arrays.

    After FOUND the frames on the stack are the path, and ``registers[Reg.CLOSING]`` is
    the state of it to which the last one has a transition.
    """
    room = arrays.stack.shape[0] - product.ids.shape[0] - 1
    rules = arrays.rules
    while budget > 0:
        top = registers[Reg.TOP]
        if top == 0:
            return Status.EMPTY
        if top > room or is_full(product, store, registers):
            return Status.GROW  # before any write: the call can be repeated
        entry = np.int64(arrays.stack[top - 1])
        base = registers[Reg.RED_BASE]
        status = Status.RUNNING
        again = np.int64(-1)  # the state that is expanded once more
        if entry >= 0:  # a successor whose turn has come
            colour = colour_of(arrays.colours, entry)
            if colour == Colour.WHITE and at_limit(registers):
                return Status.LIMIT
            registers[Reg.TOP] = top - 1
            if base > 0 and waits_for_red(rules.to_seed, colour):
                push_frame(registers, arrays, marker(entry, 0))
                again = entry
            elif base == 0 and waits_for_blue(rules.to_seed, colour):
                status = enter_blue(
                    expand, product, store, registers, arrays, entry, colour
                )
                budget -= 1
        elif 0 < base < top:  # a red frame has ended
            pop_frame(registers)
        elif base == 0 and looks_again(rules.black, rules.blue_only, (-1 - entry) & 1):
            again = (-1 - entry) >> 1
        else:
            colour = np.int64(Colour.RED if base > 0 else Colour.BLUE)
            leave_blue(registers, arrays, entry, colour)
        if again >= 0:
            status = look_again(expand, product, store, registers, arrays, again, entry)
            budget -= 1
        if status != Status.RUNNING:
            return status
    return Status.RUNNING


_ACCEPTS_WORK = 5.0  # microseconds of a call from Python, roughly


class NestedDFS(Search):
    """A nested search in progress; a subclass for each set of rules."""

    generalised = False
    kernel = staticmethod(ndfs_step)

    rules: ClassVar[Rules]
    arrays: Arrays

    def _layout(self) -> Layout:
        of_states = {"colours": COLOURS}
        if self.problem.ample is not None and self._stores_seeds:
            of_states["reduction.seeds"] = Column(np.uint16)
        return {Reg.STORED: of_states, Reg.TOP: {"stack": INT32}}

    def _as_arrays(self, made: dict[str, np.ndarray]) -> Arrays:
        seeds = made.pop("reduction.seeds", np.zeros(0, dtype=np.uint16))
        tables = self.problem.ample
        if tables is None:
            return Arrays(**made, rules=self.rules, reduction=None)
        if self._stores_seeds and highest_seed(tables) > MAX_SEED:
            what = "components" if tables.stubborn is None else "actions"
            raise UnsupportedError(
                f"--red-ample=stored takes at most {MAX_SEED} {what}: use full"
            )
        return Arrays(**made, rules=self.rules, reduction=Reduction(tables, seeds))

    @property
    def _stores_seeds(self) -> bool:
        """Whether the ample set of every state is noted for the red search."""
        return self.problem.inner == Inner.STORED and self.rules.blue_only is None

    def _sweep(self) -> Iterator[None]:
        stack, colours = self.arrays.stack, self.arrays.colours
        return swept(
            self.registers,
            lambda *where: forget_coloured(stack, colours, *where),
            lambda *where: int(close_gaps(stack, *where)),
        )

    def colours(self) -> np.ndarray:
        """Return uint8[n_stored], the Colour of every state."""
        return unpacked_colours(self.arrays.colours, self.n_stored)

    def visited(self) -> np.ndarray:
        """Return bool[n_stored]: the states that have been expanded."""
        return np.asarray(self.colours() != Colour.WHITE)

    def lasso(self) -> Job[ProductLasso]:
        """Return a short accepting run; the search must have answered FOUND.

        The cycle is a shortest one through an accepting state of the cycle on
        the stack.
        """
        path = stack_frames(self.arrays.stack[: self.registers[Reg.TOP]])
        start = int(np.flatnonzero(path == self.registers[Reg.CLOSING])[0])
        ticks = Ticks(EXTRACTING, _ACCEPTS_WORK)
        for state in path[start:].tolist():
            if self._accepts(state):
                return (yield from PathFinder(self).lasso_through(state))
            yield from ticks.worked()
        raise ReplayError(f"no state of the cycle that {self.name} has found accepts")

    def _accepts(self, state: int) -> bool:
        problem = self.problem
        (row,) = rows_of(self.store, np.array([state]))
        return bool(accepts_row(problem.expand, problem.product, row))


class CVWY92(NestedDFS):
    """The search of Schwoon & Esparza 2005, Fig. 1."""

    name = "cvwy92"
    rules = Rules(to_seed=_YES)

    def _sweep(self) -> Iterator[None]:
        yield from ()  # a state waits for red whether or not blue has been there


class HPY96(NestedDFS):
    """The search of Schwoon & Esparza 2005, Sec. 3.1 (first part)."""

    name = "hpy96"
    rules = Rules()


class GMZ04(NestedDFS):
    """The search of Gastin et al. (Schwoon & Esparza 2005, Sec. 3.1)."""

    name = "gmz04"
    rules = Rules(target=_YES, black=_YES)


class SE05(NestedDFS):
    """The search of Schwoon & Esparza 2005, Fig. 3."""

    name = "se05"
    rules = Rules(source=_YES, target=_YES)


class DFSWeak(NestedDFS):
    """The search of Schwoon & Esparza 2005, Sec. 5.1."""

    name = "dfs-weak"
    rules = Rules(source=_YES, blue_only=_YES)
    kinds: ClassVar[tuple[str, ...]] = ("weak",)
    """What an automaton has to be, as `Problem` says."""

    def __init__(self, problem: Problem) -> None:
        for kind in self.kinds:
            if not getattr(problem, kind):
                raise UnsupportedError(
                    f"{self.name} takes {kind} automata, and this one is not {kind}: "
                    "use --emptiness=couvreur99"
                )
        super().__init__(problem)


class ReachTerminal(DFSWeak):
    """Reachability of a universally accepting state."""

    name = "reach-terminal"
    kinds = ("terminal", "weak")
