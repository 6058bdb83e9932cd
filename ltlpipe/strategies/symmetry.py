"""Symmetry: sets of markings of symmetric nets; orbits of networks and other models.

Colours of a symmetric net that can be exchanged make markings alike, of which sets are
searched; where there are none, orbits of the unfolded net, if symmetry is asked for by
name.  Of networks and models the orbits are searched; if
nobody asks for it, only of networks in which three components or more seem to be alike.

Orbits are those under the automorphisms that leave a system and a property alone.  The
group is that of a graph which draws system and property: whatever it is, rotations
of a ring, pairs that change places together, all colours of a net.  The strategy
`automorphisms` is used only where it is asked for.

Sources: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6; E. A. Emerson and A. P. Sistla,
"Symmetry and Model Checking", Formal Methods in System Design 9, 1996, pp. 105-131; E.
A. Emerson, S. Jha and D. Peled, "Combining Partial Order and Symmetry Reductions",
TACAS 1997 (ample sets of representatives); docs/symmetry.md.

The search of orbits asks networks, and nets and DVE models, in one way (`_Side`).
The group moves components of a network with their local states, and variables of a
model.
"""

from __future__ import annotations

from dataclasses import replace
from math import factorial, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.logic.propositions.syntax import Indexed, Operation, Taken
from ltlpipe.question.conditions import AMPLE, AUTOMORPHISMS, SYMMETRY
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError, not_generalised
from ltlpipe.runtime.errors import ReplayError, UnsupportedError
from ltlpipe.runtime.jobs import MEMORY, StoppedError, reserved
from ltlpipe.search.catalogue import AEC_CLOSED, POWERSET, SHARED, TEC
from ltlpipe.strategies import components
from ltlpipe.strategies.state_search import OVERFLOW, ends_of, search_states, searched
from ltlpipe.systems.nets.coloured.symmetric import MOST_CELLS, SymmetricNet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.colours import ColourGroup, Layout
    from ltlpipe.symmetry.groups.group import Group
    from ltlpipe.symmetry.orbits import SystemStep
    from ltlpipe.symmetry.sets.tables import Made
    from ltlpipe.systems.networks.packing import PackedSystem
    from ltlpipe.systems.runs import Run

LARGE = 100_000
"""Elements of a group whose orbits lead: they are few, and states are many."""

LARGE_SHARE, LARGE_WORK = 14.0, 2e6
"""Share of turns of the search of their orbits, and after which work it is over."""

WORTH_IT = 3
"""Members of a class from which on symmetry is used unasked."""

MOST_SHOWN = 10**60
"""The order of a group whose digits are shown."""

MOST_LOOKS = 2.5e8
"""Looks at fields of successors of one state, which are made representatives without a
pause: a second or two.
"""

_SHOWN = 5  # names of a class

_LOST = (
    "tec instead, because a set was replaced by parts that its representative does not "
    "tell to be in it"
)


_WHY = (
    "sets of states include each other: it stops at what a set on its stack includes, "
    "lets sets be as large as the property lets them, and goes on as iec where that "
    "can deceive it (Baarir & Duret-Lutz 2006, Secs. 3 and 4; docs/symmetry.md)"
)


class _LostRunError(Exception):
    """A run of sets is lost, since inclusions of its sets are not found again."""


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    if isinstance(question, ModelQuestion) and question.system.has_colours:
        return _job_of_sets(question, trace)
    least = 1 if question.options.wants_symmetry else WORTH_IT
    return job_of_orbits(question, trace, SYMMETRY, least)


def _job_of_sets(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question about a symmetric net."""
    from ltlpipe.symmetry.colours import group_of_colours, layout_of

    net = question.system
    if not isinstance(net, SymmetricNet):
        raise NotApplicableError(_too_many(net))
    group = yield from group_of_colours(net.coloured)
    if group.is_trivial:
        if question.options.wants_symmetry and question.given.emptiness not in POWERSET:
            return (yield from _job_of_unfolded(question, trace))
        why = "; ".join(group.refused) or "each sort has one colour"
        raise NotApplicableError(f"no colours can be exchanged ({why})")
    largest = max((len(colours) for _, colours in group.classes), default=0)
    if largest < WORTH_IT and not question.options.wants_symmetry:
        yield from _refuse_few(question)
    table = yield from question.automaton(question.given, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    chosen = question.given.searched_by(AEC_CLOSED, _WHY)
    plan = question.settled(chosen, table, None)
    trace.plan = _noted(plan, group)
    layout = yield from layout_of(net, group)
    emptiness = trace.plan.emptiness
    assert emptiness is not None  # since it is settled
    while True:
        try:
            search = _search(question, layout, table, emptiness, trace)
            answer, made = yield from search
        except _LostRunError:
            emptiness, trace.has_found = TEC, False
            reasons = (*trace.plan.reasons, _LOST)
            trace.plan = replace(trace.plan, emptiness=TEC, reasons=reasons)
            continue
        if answer.reason != OVERFLOW or not layout.widened(made.noted()):
            return answer


def _job_of_unfolded(question: ModelQuestion, trace: Trace) -> Job[Answer]:
    """Return the job that searches the orbits of the unfolded net."""
    unfolded = yield from question.unfolded()
    answer = yield from job_of_orbits(unfolded, trace, SYMMETRY, 1)
    if answer.run is None:
        return answer
    return answer._replace(run=question.refolded(answer.run, unfolded))


def _too_many(net: Any) -> str:
    """Say that a symmetric net has been unfolded since it has too many cells."""
    from ltlpipe.systems.nets.coloured.cells import Cells

    n_cells = Cells(net.coloured).first[-1]
    return (
        f"the places of the net have {n_cells:,} tuples of colours, "
        f"the limit is {MOST_CELLS:,}"
    )


def _refuse_few(question: ModelQuestion) -> Job[None]:
    """Leave a net in which little can be exchanged to others, if they can take it.

    Raises
    ------
    NotApplicableError
        They can.
    """
    try:
        yield from question.unfolded()
    except UnsupportedError:
        return
    raise NotApplicableError("too few colours can be exchanged")


def _search(
    question: ModelQuestion,
    layout: Layout,
    table: PropertyAutomaton,
    emptiness: str,
    trace: Trace,
) -> Job[tuple[Answer, Made]]:
    """Search the symbolic product with fields of some widths."""
    from ltlpipe.search.driver import advance
    from ltlpipe.symmetry.sets.powerset_search import PowersetSearch
    from ltlpipe.symmetry.sets.runs import NetSteps, SetRuns, run_through
    from ltlpipe.symmetry.sets.tables import symbolic_product

    propositions = list(question.propositions.values())
    stutter = question.stutters
    ends = ends_of(question, table, trace).nonzero()[0].tolist()
    made = yield from symbolic_product(
        layout,
        propositions,
        table,
        stutter=stutter,
        closes=emptiness == AEC_CLOSED,
        ends=ends,
    )
    yield from made.automaton.ready()
    search = PowersetSearch(made.automaton, emptiness)

    def extraction() -> Job[Run]:
        steps = NetSteps(
            layout.net, propositions, table, made, stutter=stutter, ends=ends
        )
        try:
            sets = yield from SetRuns(search).accepting()
            return (yield from run_through(steps, search, sets))
        except ReplayError as error:
            if not made.approximate:
                raise
            if emptiness != TEC:
                raise _LostRunError from error
            # The violation is there; its markings are not recognised in their sets.
            raise StoppedError(MEMORY) from error

    advancing = advance(
        search,
        max_states=question.options.max_states,
        overflowed=lambda: next(iter(made.noted()), None),
    )
    answer = yield from searched(question.options, search, trace, extraction, advancing)
    if made.approximate:
        details = trace.stats.details | {"approximate_markings": made.approximate}
        trace.note(details=details)
    return answer, made


def _noted(plan: Plan, group: ColourGroup) -> Plan:
    """Say in a settled plan which colours are exchanged."""
    parts = []
    for names in group.names():
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 1], f"... {names[-1]} ({len(names)})"]
        parts.append(f"{', '.join(names)} can be exchanged")
    kept = "".join(f"; {why}" for why in group.refused)
    return plan.reduced_by(
        SYMMETRY,
        f"{SYMMETRY}, because colours {'; '.join(parts)} (Chiola et al. 1993; Baarir & "
        f"Duret-Lutz 2006, Sec. 6){kept}",
    )


def job_of_automorphisms(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    return job_of_orbits(question, trace, AUTOMORPHISMS, 1)


def job_of_orbits(
    question: Question, trace: Trace, reduction: str, least: int
) -> Job[Answer]:
    """Return the job that searches orbits.

    Parameters
    ----------
    question, trace
        Those of `job`.
    reduction : str
        By which name.
    least : int
        Unless there are more permutations than fewer members have, and each orbit has
        one representative, it is not worth it.
    """
    from ltlpipe.symmetry.orbits import lifted

    composed = yield from components.composed_if_named(question, trace)
    product, plan = yield from _product(question, composed, trace)
    if question.options.workers > 1 and plan.emptiness in SHARED:
        raise NotApplicableError(
            f"workers that share {plan.emptiness} need a table each"
        )
    if isinstance(question, ModelQuestion):
        side = yield from _side_of_model(question, product.table)
    else:
        side = yield from _side_of_network(product, least)
    acting = side.acting
    if least > 1 and (acting.order or 1) < factorial(least):
        raise NotApplicableError("no group was found that is worth it")
    trace.plan = plan.reduced_by(reduction, f"{reduction}, {_reason(acting)}")
    packing = _quotient(acting, product.packed())
    search = search_states(question, product, trace, packing=packing)
    if (acting.order or 1) >= LARGE:
        search = trace.leading(search, LARGE_SHARE, LARGE_WORK)
    answer = yield from search
    if answer.run is not None:
        lifting = lifted(acting, side.steps, side.kind, answer.run)
        found = yield from trace.timed("lasso_seconds", lifting)
        answer = answer._replace(run=found)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


def _product(
    question: Any, composed: components.Composed | None, trace: Trace
) -> Job[tuple[Any, Plan]]:
    """Return the product whose orbits are searched, and its plan."""
    if composed is not None:
        product, plan = yield from components.composed_product(
            question, composed, trace
        )
        return product, composed.noted(plan)
    if question.options.insists_on(AMPLE):
        product, why = yield from question.ample_product(question.given, trace)
        plan = question.settled(product.plan, product.table, product.reductions)
        return product, plan.reduced_by(AMPLE, f"{AMPLE}, because {why}")
    product = yield from question.product(question.given, trace)
    return product, question.settled(product.plan, product.table, product.reductions)


def _quotient(acting: Group, packing: Job[Any]) -> Job[PackedSystem | None]:
    """Return the quotient of what a job packs, which can be packed again wider."""
    from ltlpipe.symmetry.orbits import quotient, table_bytes

    packed = yield from packing
    if packed is None:
        return None
    # In states of nets and programs few transitions are enabled.
    n, is_network = packed.max_successors, len(packed.local_states) > 0
    if is_network and n * acting.looks(n.bit_length()) > MOST_LOOKS:
        raise NotApplicableError(
            f"one state can have up to {n} successors, too many for representatives"
        )
    packed = yield from _uniform(packed, acting)
    yield from reserved("tabulating", table_bytes(acting))
    made = quotient(packed, acting)
    return replace(made, widened=lambda: _quotient(acting, packed.widened()))


def _uniform(packed: Any, acting: Group) -> Job[Any]:
    """Return what is packed with fields that change places as wide as each other.

    Components of networks are.
    """
    from ltlpipe.systems.nets.packing import PackedNet

    if not isinstance(packed, PackedNet):
        return packed
    widths = packed.widths
    orbits = yield from acting.orbits()
    wide = np.zeros(len(orbits), dtype=np.int64)
    np.maximum.at(wide, orbits, widths.bits)
    in_doubt = np.zeros(len(orbits), dtype=np.bool_)
    np.logical_or.at(in_doubt, orbits, np.logical_not(widths.proven))
    bits = tuple(wide[orbits].tolist())
    wider = replace(widths, bits=bits, proven=tuple((~in_doubt[orbits]).tolist()))
    return packed if wider == widths else (yield from packed.repacked(widths=wider))


def _reason(acting: Group) -> str:
    """Say which group the quotient is by."""
    if not acting.factors:
        return (
            "which changes nothing: no permutation but the "
            "identity leaves both the system and the property as they are"
        )
    moved = sum(len(factor.fields) for factor in acting.factors)
    what = "components" if acting.space.of_values else "variables"
    if acting.order is not None:
        number = f"more than 10^{int(log10(acting.order))}"
        if acting.order <= MOST_SHOWN:  # Python writes no thousands of digits
            number = f"{acting.order:,}"
        number = f"{number} permutations of {moved} {what} leave"
        kind = "each orbit has one representative"
    else:
        number = f"a large group of permutations of {moved} {what} leaves"
        kind = "an orbit may have several representatives, which local search finds"
    return (
        f"because {number} the system and the property as they are; "
        f"{kind} (Emerson & Sistla 1996; Donaldson & Miller 2006)"
    )


class _Side(NamedTuple):
    """A system, as far as the search of orbits asks for it.

    Parameters
    ----------
    acting : Group
        Of the system and the property.
    view : PlainSteps or Model
        Yields the steps of a state.
    kind : callable
        Returns what the property tells apart of an action.
    """

    acting: Group
    view: Any
    kind: Callable[[int], int]

    def steps(self, state: Sequence[int]) -> Iterator[SystemStep]:
        """Yield the steps of a state."""
        from ltlpipe.symmetry.orbits import SystemStep

        for step in self.view.each_step(tuple(state)):
            yield SystemStep(step.action, self.kind(step.action), step.state)


def _side_of_network(product: Any, least: int) -> Job[_Side]:
    """Return what is asked for of the product of a network.

    The group is trivial if fewer than `least` components seem to be alike.
    """
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.symmetry.groups.models import letter_classes
    from ltlpipe.symmetry.groups.systems import group_of_network
    from ltlpipe.systems.plain_steps import NetworkSteps

    network = product.trimmed.network
    kinds = letters_of(network, product.trimmed.actions)
    # Ample sets see which actions are visible, whatever the automaton tells apart.
    if product.visible is None:
        classes = yield from letter_classes(product.table)
        kinds = classes[kinds]
    acting = yield from group_of_network(network, kinds, least)
    return _Side(
        acting,
        NetworkSteps(network, limited=False),
        lambda action: int(kinds[action]),
    )


def _side_of_model(question: ModelQuestion, table: PropertyAutomaton) -> Job[_Side]:
    """Return what is asked for of a net or DVE model."""
    from ltlpipe.symmetry.groups.models import (
        Propositions,
        group_of_net,
        letter_classes,
    )
    from ltlpipe.symmetry.groups.systems import group_of_program
    from ltlpipe.systems.nets.structure import Net

    yield from question.prepared()
    propositions = list(question.propositions.values())
    taken = [t for p in propositions for t in _taken_in(p)]
    system: Any = question.system
    group_of = group_of_net if isinstance(system, Net) else group_of_program
    classes = yield from letter_classes(table)
    acting = yield from group_of(system, Propositions(propositions, classes))
    return _Side(
        acting,
        system,
        lambda action: sum(1 << k for k, t in enumerate(taken) if action in t.actions),
    )


def _taken_in(expression: Expression) -> list[Taken]:
    """Return the parts of an expression that are about steps."""
    if isinstance(expression, Taken):
        return [expression]
    if isinstance(expression, Operation):
        return [t for operand in expression.operands for t in _taken_in(operand)]
    return _taken_in(expression.index) if isinstance(expression, Indexed) else []
