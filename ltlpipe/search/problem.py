"""Input of a search: a system and a property composed, with their acceptance.

The kernels that generate the product are in `ltlpipe.search.product`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi, normal_form
from ltlpipe.por.component_sets import AmpleTables, Inner, new_tables
from ltlpipe.por.stubborn_sets import stubborn_tables
from ltlpipe.por.tables import Relation
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.product import MAX_MARKS, Product, Setting, is_alone
from ltlpipe.search.stacks import mark_bits

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Clause, Condition, Fairness
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.por.tables import Enabling
    from ltlpipe.systems.networks.packing import PackedSystem


@dataclass(frozen=True)
class Problem:
    """A product as a search takes it."""

    expand: Any  # the system's compiled successor function
    product: Product  # its buffers serve one search at a time
    initial: np.ndarray  # uint64[n_words], the initial row
    n_marks: int  # of the product: the property's and the system's
    state_based: bool  # all transitions that leave a state carry the same marks
    weak: bool = False  # the property automaton is, and the system has no marks
    terminal: bool = False  # likewise
    ample: AmpleTables | None = None  # if given, states are expanded by ample sets
    inner: Inner = Inner.FULL  # how red searches find them again
    condition: Condition | None = None  # what accepts; None: all marks together
    compress: bool = False  # rows of several words are kept as trees
    spill: str | None = None  # the folder for the table if memory is short

    @property
    def acceptance(self) -> Condition:
        """What accepts."""
        return self.condition or generalised_buchi(self.n_marks)

    def clauses(self) -> tuple[Clause, ...]:
        """Return the disjunctive normal form of what accepts."""
        return normal_form(self.acceptance)

    @property
    def mark_bits(self) -> int:
        """Bits of a packed set of marks."""
        return mark_bits(self.n_marks)

    def with_own_buffers(self, batch: int = 0) -> Problem:
        """Return the same problem with buffers that no other search uses.

        They have room for the successors of one state behind a `batch` of others.
        """
        product = self.product
        sizes = len(product.letters), len(product.ids) + batch, len(product.row)
        in_place = not batch and product.rows is product.system_rows
        buffers = new_buffers(*sizes, in_place=in_place)
        if batch and is_alone(product):
            buffers["letters"] = np.zeros_like(buffers["row_actions"])
            buffers["settings"] = product.settings.copy()
            buffers["settings"][Setting.ALONE] = 1
        return replace(self, product=product._replace(**buffers))


def new_buffers(
    n_steps: int, n_successors: int, n_words: int, *, in_place: bool
) -> dict[str, np.ndarray]:
    """Return the buffers of a `Product` by their names.

    If `in_place`, the steps of the system become those of the product where they are.
    """
    rows = np.zeros((n_successors, n_words), dtype=np.uint64)
    actions = np.zeros(n_successors, dtype=np.int32)
    marks = np.zeros(n_successors, dtype=np.uint32)
    own: dict[str, np.ndarray]
    own = {"system_rows": rows, "actions": actions, "system_marks": marks}
    if not in_place:
        own = {k: np.zeros((n_steps, *b.shape[1:]), b.dtype) for k, b in own.items()}
    return {
        **own,
        "letters": np.zeros(n_steps, dtype=np.int32),
        "row": np.zeros(n_words, dtype=np.uint64),
        "rows": rows,
        "marks": marks,
        "row_actions": actions,
        "ids": np.zeros(n_successors, dtype=np.int32),
        "hashes": np.zeros(n_successors, dtype=np.uint64),
    }


def buffer_bytes(system: PackedSystem, automaton: PropertyAutomaton) -> int:
    """Return the bytes of the buffers of a `Product`, before they are made."""
    step = 8 * system.initial.shape[0] + 4 + 4
    steps = system.max_successors * (step + 4)
    products = system.max_successors * automaton.branching * (step + 4 + 8)
    return int(steps + products)


def make_problem(
    system: PackedSystem,
    automaton: PropertyAutomaton,
    *,
    stutter: bool = False,
    relation: Relation | Enabling | None = None,
    visible: np.ndarray | None = None,
    inner: Inner = Inner.FULL,
    fairness: Fairness | None = None,
) -> Problem:
    """Compose a packed system and a property automaton.

    Parameters
    ----------
    system : PackedSystem
        Packed with ``extra_values=automaton.n_states`` and the letters of
        `automaton`.
    automaton : PropertyAutomaton
        The property that is searched for, that is the negated formula.  The product's
        acceptance is its condition, that of the system and fairness, all together.
    stutter : bool
        Whether a state without successors repeats itself for ever.
    relation, inner
        If given, searches expand states by ample sets; see `Problem`.  They are of
        components (`Relation`), or stubborn sets of actions (`Enabling`).
    visible : bool[n_actions], optional
        The actions that the property tells apart; needed with `relation`.
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
            + ("fairness needs fewer sets" if fairness else "use --acceptance=ba")
        )
    system_condition = system.condition
    if fairness is not None:
        own = system.condition or generalised_buchi(system.n_marks)
        fair = fairness.condition.renumbered(lambda mark: mark + system.n_marks)
        system_condition = own & fair
    joint = product_condition(
        automaton.condition, system_condition, automaton.n_marks, own_marks
    )
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
    s = system.max_successors
    ample = None
    if relation is not None:
        if visible is None:
            raise ValueError("ample sets need the visible actions")
        by_components = isinstance(relation, Relation)
        tables: Any = new_tables if by_components else stubborn_tables
        ample = tables(relation, visible, s)
    nothing = np.zeros(0, dtype=np.uint32)
    initial = system.initial.copy()
    initial[system.extra.word] |= np.uint64(automaton.initial << system.extra.shift)
    return Problem(
        expand=system.pointer(),
        product=Product(
            ints=system.ints,
            words=system.words,
            settings=settings,
            first_edge=automaton.first_edge,
            edge_dst=automaton.edge_dst,
            edge_marks=automaton.edge_marks,
            # A deterministic property never has more successors than the system.
            **new_buffers(
                s,
                s * automaton.branching,
                len(system.initial),
                in_place=automaton.branching == 1 and relation is None,
            ),
            fair_enabled=nothing if fairness is None else fairness.enabled,
            fair_taken=nothing if fairness is None else fairness.taken,
            ends=np.zeros(0, dtype=np.bool_),
        ),
        initial=initial,
        n_marks=n_marks,
        state_based=automaton.state_based and system.state_based and fairness is None,
        weak=automaton.weak and own_marks == 0,
        terminal=automaton.terminal and own_marks == 0,
        ample=ample,
        inner=inner,
        condition=joint,
    )


def product_condition(
    condition: Condition | None,
    system_condition: Condition | None,
    n_marks: int,
    system_marks: int,
) -> Condition | None:
    """Return the conjunction of two conditions, the second's marks behind the first's.

    They are over `n_marks` marks of the property and `system_marks` of the system;
    None, given or returned, is generalised Büchi over all marks.
    """
    first = condition or generalised_buchi(n_marks)
    second = system_condition or generalised_buchi(system_marks)
    if first.n_marks > n_marks or second.n_marks > system_marks:
        raise ValueError(f"{first} and {second}: more marks than there are")
    joint = first & second.renumbered(lambda mark: mark + n_marks)
    usual = generalised_buchi(n_marks + system_marks)
    same = joint.op == usual.op and set(joint.parts) == set(usual.parts)
    return None if same and joint.mark == usual.mark else joint
