"""The product of a system and a property automaton, generated state by state.

A product state is a row of the system in which the field `extra` holds the
state of the property automaton.  Each step of the system carries a letter; the
property automaton is a table from (its state, letter) to its transitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe._errors import UnsupportedError
from ltlpipe._jit import expand_pointer, inlined, specialised
from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.search.ample import AmpleTables, Inner, meets, new_tables
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import intern, lookup
from ltlpipe.systems.packing_kernels import Select

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.ample import Relation
    from ltlpipe.search.fairness import Fairness
    from ltlpipe.systems.packing import PackedNetwork

MAX_MARKS = 32
"""Bits of a set of marks; also Spot's limit."""


class Setting(IntEnum):
    """Places in the product's `settings`."""

    N_LETTERS = 0
    WORD = 1  # the field of the property's state
    SHIFT = 2
    MASK = 3
    STUTTER = 4  # whether a state without successors repeats itself
    SYSTEM_SHIFT = 5  # the property's marks; the system's follow
    SYSTEM_MARKS = 6  # number of the system's marks among the product's
    FULL = 7  # all marks; without a condition an accepting cycle sees each of them
    LETTER_SHIFT = 8  # number of the system's marks that letters tell
    FAIR_SHIFT = 9  # the system's own marks; those of fairness follow
    FAIR_ENABLED = 10  # marks of a state in which nothing fair is enabled


class Product(NamedTuple):
    """Tables and buffers; s and p bound the successors in system and product."""

    ints: np.ndarray  # int64[...], the system's tables
    words: np.ndarray  # uint64[...], the system's tables
    settings: np.ndarray  # int64[len(Setting)]
    first_edge: np.ndarray  # int32[n_states * n_letters + 1]
    edge_dst: np.ndarray  # int32[n_edges], state of the property
    edge_marks: np.ndarray  # uint32[n_edges]
    system_rows: np.ndarray  # uint64[s, n_words]
    letters: np.ndarray  # int32[s]
    actions: np.ndarray  # int32[s]
    system_marks: np.ndarray  # uint32[s]
    rows: np.ndarray  # uint64[p, n_words]
    marks: np.ndarray  # uint32[p]
    row_actions: np.ndarray  # int32[p]
    ids: np.ndarray  # int32[p]
    hashes: np.ndarray  # uint64[p]
    fair_enabled: np.ndarray  # uint32[n_actions], marks that change if it is enabled
    fair_taken: np.ndarray  # uint32[n_actions], marks that come if it is taken


@inlined
def property_state(product, row):
    """Return the state of the property automaton in a product row."""
    word = row[product.settings[Setting.WORD]]
    shift = np.uint64(product.settings[Setting.SHIFT])
    return np.int64((word >> shift) & np.uint64(product.settings[Setting.MASK]))


@inlined
def successors(expand, product, row):
    """Write the successors of a product row to ``product.rows[:n]``; return n.

    Their marks are in ``product.marks[:n]``, the actions that lead to them in
    ``product.row_actions[:n]``.
    """
    n_steps = system_steps(expand, product, row)
    return compose(product, row, n_steps, None, -1)


@inlined
def system_steps(expand, product, row):
    """Write the steps of the system to ``product.system_rows[:n]``; return n."""
    n_steps = expand(
        product.ints,
        product.words,
        row,
        Select.ALL,
        product.system_rows,
        product.letters,
        product.actions,
        product.system_marks,
    )
    if n_steps == 0 and product.settings[Setting.STUTTER] != 0:
        n_steps = stutter(expand, product, row)
    if product.fair_taken.shape[0] > 0:
        add_fair_marks(product, n_steps)
    return n_steps


@inlined
def add_fair_marks(product, n_steps):
    """Mark the steps of one state by what is enabled in it, and what each takes."""
    marks = np.uint32(product.settings[Setting.FAIR_ENABLED])
    shift = np.uint32(product.settings[Setting.FAIR_SHIFT])
    enabled = np.uint32(0)
    for step in range(n_steps):
        action = product.actions[step]
        if action >= 0:
            enabled |= product.fair_enabled[action]
    marks ^= enabled
    for step in range(n_steps):
        action = product.actions[step]
        taken = np.uint32(0)
        if action >= 0:
            taken = product.fair_taken[action]
        product.system_marks[step] |= (marks | taken) << shift


@specialised
def compose(product, row, n_steps, tables, closure):
    """Combine the system's steps with the property's; see `successors`.

    With `tables` (AmpleTables, else None) and `closure` not negative, only the
    steps that involve components of ``tables.closures[closure]`` are taken.
    """
    n_words = row.shape[0]
    settings = product.settings
    src = property_state(product, row)
    word = settings[Setting.WORD]
    shift = np.uint64(settings[Setting.SHIFT])
    system_shift = np.uint32(settings[Setting.SYSTEM_SHIFT])
    base = src * settings[Setting.N_LETTERS]
    letter_shift = settings[Setting.LETTER_SHIFT]
    told = (np.int64(1) << letter_shift) - 1
    kept = np.uint32(0xFFFFFFFF) if letter_shift == 0 else np.uint32(0)
    # Taking an array out of a tuple costs a reference count: not in a loop.
    first_edge, edge_dst = product.first_edge, product.edge_dst
    edge_marks, letters = product.edge_marks, product.letters
    actions, system_marks = product.actions, product.system_marks
    system_rows, rows = product.system_rows, product.rows
    marks, row_actions = product.marks, product.row_actions
    n = 0
    for step in range(n_steps):
        # Compiled without `tables`, this branch is not there at all.
        if tables is not None and not takes(tables, closure, actions[step]):
            continue
        at = base + (np.int64(letters[step]) << letter_shift)
        at += np.int64(system_marks[step]) & told
        own_marks = (system_marks[step] << system_shift) & kept
        for edge in range(first_edge[at], first_edge[at + 1]):
            for w in range(n_words):
                rows[n, w] = system_rows[step, w]
            rows[n, word] ^= np.uint64(src ^ edge_dst[edge]) << shift
            marks[n] = edge_marks[edge] | own_marks
            row_actions[n] = actions[step]
            n += 1
    return n


@inlined
def takes(tables, closure, action):
    """Whether an action involves a closure, or all are taken (`closure` < 0)."""
    return closure < 0 or meets(tables.participants, action, tables.closures, closure)


@inlined
def stutter(expand, product, row):
    """Write the step in which the system's state repeats itself; return 1."""
    return expand(
        product.ints,
        product.words,
        row,
        Select.STUTTER,
        product.system_rows,
        product.letters,
        product.actions,
        product.system_marks,
    )


@inlined
def visit_successors(expand, product, store, registers, state, companion, shift):
    """Generate, count and store the successors of a stored state.

    The caller is going to look at ``companion[id >> shift]`` for each of them.

    Returns n; their ids are in ``product.ids[:n]``, their marks in
    ``product.marks[:n]``.
    """
    n = successors(expand, product, store.rows[state])
    intern(
        store,
        registers,
        product.rows,
        n,
        product.ids,
        product.hashes,
        companion,
        shift,
    )
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1
    return n


@inlined
def visit_known(expand, product, store, registers, state, companion, shift):
    """Generate and count all successors of a state; -1 for those not stored.

    See `visit_successors`; nothing is added to the store.
    """
    n = successors(expand, product, store.rows[state])
    find_all(product, store, registers, n, companion, shift)
    return n


@inlined
def find_all(product, store, registers, n, companion, shift):
    """Count `n` successors and look them up."""
    lookup(
        store,
        registers,
        product.rows,
        n,
        product.ids,
        product.hashes,
        companion,
        shift,
    )
    registers[Reg.TRANSITIONS] += n
    registers[Reg.EXPANSIONS] += 1


@inlined
def leaves_accepting(product, n):
    """Whether the `n` transitions just generated leave an accepting state.

    A state without successors lies on no cycle: whether it accepts is all one.
    """
    full = np.uint32(product.settings[Setting.FULL])
    return n > 0 and product.marks[0] & full == full


@inlined
def at_limit(registers):
    """Whether as many states have been entered as may be."""
    return registers[Reg.VISITED] >= registers[Reg.MAX_STATES]


@inlined
def is_full(product, store, registers):
    """Whether the store lacks room for the successors of one more state."""
    needed = registers[Reg.STORED] + product.ids.shape[0]
    return needed > store.rows.shape[0] or 4 * needed > 3 * store.slots.shape[0]


@dataclass(frozen=True)
class Problem:
    """A product as a search takes it.

    Parameters
    ----------
    expand : compiled successor function
        Of the system; see `ltlpipe.systems.packing`.
    product : Product
        Tables and buffers; the buffers serve one search at a time.
    initial : uint64[n_words]
        The initial row.
    n_marks : int
        Marks of the product: the property's and the system's.
    state_based : bool
        Whether all transitions that leave a state carry the same marks.
    weak, terminal : bool
        Whether the property automaton is and the system brings no marks.
    ample : AmpleTables, optional
        If given, states are expanded by ample sets.
    inner : Inner
        How red searches find the ample sets again.
    condition : Condition, optional
        Which sets of marks, seen infinitely often, are accepting; None where all
        marks together are (generalised Büchi).
    """

    expand: Any
    product: Product
    initial: np.ndarray
    n_marks: int
    state_based: bool
    weak: bool = False
    terminal: bool = False
    ample: AmpleTables | None = None
    inner: Inner = Inner.FULL
    condition: Condition | None = None


def buffer_bytes(system: PackedNetwork, automaton: PropertyAutomaton) -> int:
    """Return the bytes of the buffers of a `Product`, before they are made."""
    step = 8 * system.initial.shape[0] + 4 + 4
    steps = system.max_successors * (step + 4)
    products = system.max_successors * automaton.branching * (step + 4 + 8)
    return int(steps + products)


def make_problem(
    system: PackedNetwork,
    automaton: PropertyAutomaton,
    *,
    stutter: bool = False,
    relation: Relation | None = None,
    visible: np.ndarray | None = None,
    inner: Inner = Inner.FULL,
    condition: Condition | None = None,
    fairness: Fairness | None = None,
) -> Problem:
    """Compose a packed system and a property automaton.

    Parameters
    ----------
    system : PackedNetwork
        Packed with ``extra_values=automaton.n_states`` and the letters of
        `automaton`.
    automaton : PropertyAutomaton
        The property that is searched for, that is the negated formula.
    stutter : bool
        Whether a state without successors repeats itself for ever.
    relation : Relation, optional
        If given, searches expand states by ample sets.
    visible : bool[n_actions], optional
        The actions that the property tells apart; needed with `relation`.
    inner : Inner
        How red searches find the ample sets again.
    condition : Condition, optional
        Acceptance of the property, over its marks; generalised Büchi where it is not
        given.  The product's is its conjunction with that of the system and with
        fairness.
    fairness : Fairness, optional
        Which steps of the system are fair.

    Raises
    ------
    UnsupportedError
        The product would have more than 32 marks.
    """
    # Marks that the letters tell are the property's to see to.
    own_marks = 0 if automaton.system_marks else system.n_marks
    if fairness is not None:
        if automaton.system_marks:
            raise ValueError("letters tell marks of the system, but not of fairness")
        own_marks += fairness.n_marks
    n_marks = automaton.n_marks + own_marks
    if n_marks > MAX_MARKS:
        raise UnsupportedError(
            f"the product has {n_marks} acceptance marks, the limit is {MAX_MARKS}: "
            + ("fairness needs fewer sets" if fairness else "use --acceptance ba")
        )
    system_condition = None
    if fairness is not None:
        system_condition = generalised_buchi(
            system.n_marks
        ) & fairness.condition.renumbered(lambda mark: mark + system.n_marks)
    joint = None
    if condition is not None or system_condition is not None:
        joint = product_condition(
            condition, system_condition, automaton.n_marks, own_marks
        )
    branching = automaton.branching
    n_words = system.initial.shape[0]
    s, p = system.max_successors, system.max_successors * branching
    settings = np.zeros(len(Setting), dtype=np.int64)
    settings[Setting.N_LETTERS] = automaton.n_letters
    settings[Setting.WORD] = system.extra.word
    settings[Setting.SHIFT] = system.extra.shift
    settings[Setting.MASK] = system.extra.mask
    settings[Setting.STUTTER] = stutter
    settings[Setting.SYSTEM_SHIFT] = automaton.n_marks if own_marks else 0
    settings[Setting.SYSTEM_MARKS] = own_marks
    settings[Setting.LETTER_SHIFT] = automaton.system_marks
    settings[Setting.FULL] = (1 << n_marks) - 1
    settings[Setting.FAIR_SHIFT] = system.n_marks
    settings[Setting.FAIR_ENABLED] = 0 if fairness is None else fairness.idle
    rows = np.zeros((p, n_words), dtype=np.uint64)
    actions = np.zeros(p, dtype=np.int32)
    marks = np.zeros(p, dtype=np.uint32)
    # A deterministic property never has more successors than the system: its
    # steps then become the product's in place.
    in_place = branching == 1 and relation is None
    ample = None
    if relation is not None:
        if visible is None:
            raise ValueError("ample sets need the visible actions")
        ample = new_tables(relation, visible, s)
    initial = system.initial.copy()
    initial[system.extra.word] |= np.uint64(automaton.initial << system.extra.shift)
    return Problem(
        expand=expand_pointer(system.expand),
        product=Product(
            ints=system.ints,
            words=system.words,
            settings=settings,
            first_edge=automaton.first_edge,
            edge_dst=automaton.edge_dst,
            edge_marks=automaton.edge_marks,
            system_rows=rows if in_place else np.zeros((s, n_words), dtype=np.uint64),
            letters=np.zeros(s, dtype=np.int32),
            actions=actions if in_place else np.zeros(s, dtype=np.int32),
            system_marks=marks if in_place else np.zeros(s, dtype=np.uint32),
            rows=rows,
            marks=marks,
            row_actions=actions,
            ids=np.zeros(p, dtype=np.int32),
            hashes=np.zeros(p, dtype=np.uint64),
            fair_enabled=_none() if fairness is None else fairness.enabled,
            fair_taken=_none() if fairness is None else fairness.taken,
        ),
        initial=initial,
        n_marks=n_marks,
        state_based=automaton.state_based and fairness is None,
        weak=automaton.weak and own_marks == 0,
        terminal=automaton.terminal and own_marks == 0,
        ample=ample,
        inner=inner,
        condition=joint,
    )


def _none() -> np.ndarray:
    return np.zeros(0, dtype=np.uint32)


def product_condition(
    condition: Condition | None,
    system_condition: Condition | None,
    n_marks: int,
    system_marks: int,
) -> Condition | None:
    """Return the conjunction of two conditions, the second's marks behind the first's.

    Parameters
    ----------
    condition, system_condition : Condition or None
        Over marks 0 to ``n_marks - 1``, and 0 to ``system_marks - 1``; None is
        generalised Büchi.
    n_marks, system_marks : int
        Marks of the property and of the system.

    Returns
    -------
    Condition or None
        None if it is generalised Büchi over all marks.

    Raises
    ------
    ValueError
        A condition has marks that there are not.
    """
    first = generalised_buchi(n_marks) if condition is None else condition
    second = system_condition
    if second is None:
        second = generalised_buchi(system_marks)
    if first.n_marks > n_marks or second.n_marks > system_marks:
        raise ValueError(f"{first} and {second}: more marks than there are")
    joint = first & second.renumbered(lambda mark: mark + n_marks)
    usual = generalised_buchi(n_marks + system_marks)
    same = joint.op == usual.op and set(joint.parts) == set(usual.parts)
    return None if same and joint.mark == usual.mark else joint
