"""The product of a model and an automaton: its size, and its share of Fin transitions.

The share is that of `ltlpipe.search.exploring`: transitions of the product that carry a
mark of which the condition has a Fin term, by whichever pair.  Marks are those of the
automaton as it is published: ltlpipe's searches take weak automata (`weak`) for Büchi
automata, which have no Fin left.

Products can be too large to be explored, so exploration, breadth first, ends after so
many states; the share is then that of the part explored, and `whole` is false.
Conditions without Fin have no share, and Fin sets without a transition have a share of
0: such products are not explored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import spot

from benchmarks.tasks import significant
from ltlpipe.automata.conditions import fin
from ltlpipe.logic.actions import cube_of
from ltlpipe.question.answer import Trace
from ltlpipe.question.given_options import understood
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import StoppedError, run
from ltlpipe.runtime.kernels.compilation import ready_expand_pointer
from ltlpipe.search.driver import advance
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.registers import Reg

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model

COLUMNS = ("weak", "states", "transitions", "fin_share", "whole")

Row = dict[str, Any]


def explored(
    model: Model, violations: Any, max_states: int, timeout: float, memory: float
) -> Row:
    """Return the columns of a product; missing is None.

    `violations` is the automaton, a graph of Spot.
    """
    row: Row = dict.fromkeys(COLUMNS)
    row["weak"] = bool(spot.is_inherently_weak_automaton(violations))
    marks = fin_marks(violations)
    if not marks:
        return row
    if not any(edge.acc & marks for edge in violations.edges()):
        return row | {"fin_share": 0.0}
    options, limits = understood(
        # Automata are taken state by state for this search.
        {"emptiness": "rabin", "reduce": "none", "timeout": timeout, "memory": memory}
    )
    question = ModelQuestion(model, Property(violations=violations), options)
    try:
        run(_exploration(question, violations, max_states, row), limits)
    except StoppedError:
        row["whole"] = False
    finally:
        question.close()
    return row


def fin_marks(automaton: Any) -> Any:
    """Return the marks of which the condition has a Fin term, as Spot's set."""
    return automaton.acc().get_acceptance().used_inf_fin_sets()[1]


def _exploration(
    question: ModelQuestion, violations: Any, max_states: int, row: Row
) -> Job[None]:
    """Fill the columns, as far as the job comes."""
    product = yield from question.product(question.given, Trace(question.given))
    table = with_fin(product.table, violations, list(question.propositions))
    product = replace(product, table=table)
    packed = yield from product.packed()
    while packed is not None:
        yield from ready_expand_pointer(packed.expand)
        search = Exploration(product.problem(packed))
        try:
            outcome = yield from advance(search, max_states=max_states)
        finally:
            row |= _figures(search)
        if packed.overflowed() is None:
            row["whole"] = outcome.reason is None
            return
        packed = yield from packed.widened()


def with_fin(
    table: PropertyAutomaton, automaton: Any, propositions: list[str]
) -> PropertyAutomaton:
    """Return the table of an automaton with mark 0 on what was in a Fin set.

    Its states are the automaton's, letter i is the set of propositions of the bits of
    i.  Of transitions that agree in all but marks, tables keep one: if there is one
    outside the Fin sets, that.
    """
    import buddy  # found once Spot has been imported

    variables = [automaton.register_ap(name) for name in propositions]
    cubes = [cube_of(letter, variables) for letter in range(table.n_letters)]
    marks = fin_marks(automaton)
    free = {
        (edge.src * table.n_letters + letter, edge.dst)
        for edge in automaton.edges()
        if not edge.acc & marks
        for letter, cube in enumerate(cubes)
        if edge.cond & cube != buddy.bddfalse
    }
    cells = np.repeat(np.arange(len(table.first_edge) - 1), np.diff(table.first_edge))
    places = zip(cells.tolist(), table.edge_dst.tolist(), strict=True)
    return replace(
        table,
        edge_marks=np.array([place not in free for place in places], dtype=np.uint32),
        n_marks=1,
        condition=fin(0),
        state_based=False,
        weak=False,
        terminal=False,
    )


def _figures(search: Exploration) -> Row:
    transitions = int(search.registers[Reg.TRANSITIONS])
    share = search.fin_transitions / transitions if transitions else None
    return {
        "states": int(search.registers[Reg.VISITED]),
        "transitions": transitions,
        "fin_share": significant(share),
    }
