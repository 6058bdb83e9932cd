"""Search of orbits: representatives under permutations that the property never sees.

The group is cut once and for all to the *stabiliser* of what the property watches, as
in Murphi and TopSPIN, where `symmetry` cuts it step by step.  Any emptiness check can
search the quotient, with any acceptance.  It is used only where it is named: the sets
of `symmetry` are as large or larger.

Source: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods in
System Design 9, 1996, pp. 105-131; docs/symmetry.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import STABILISER
from ltlpipe.question.network import with_components
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.search.catalogue import OF_SETS
from ltlpipe.strategies import components
from ltlpipe.strategies.explicit import obstacle_of_marks
from ltlpipe.strategies.state_search import search_states
from ltlpipe.strategies.symmetry import nothing_found, symmetry_of
from ltlpipe.symmetry.classes.group import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.problem import Problem
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.packing import PackedNetwork

name = STABILISER
supersedes: str | None = None
needs_kernels = True
takes_colours = False


def is_named(options: Options) -> bool:
    """Whether the options ask for it by name, so that it must not be left out."""
    return options.insists_on(STABILISER)


def obstacle(question: Question) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    options = question.options
    if not is_named(options):
        return "--reduce does not name it"
    if with_components(question) is None:
        return "the system has no components"
    if question.given.emptiness in OF_SETS:
        return f"{question.given.emptiness} does not look at one state at a time"
    if question.fairness is not None:
        return "fairness tells components apart"
    if options.workers > 1:
        return "several workers cannot share its tables: leave out --workers"
    if options.swarm is not None:
        return "--swarm searches the system as it is"
    return obstacle_of_marks(question)


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.symmetry.orbits.stabiliser import stabiliser
    from ltlpipe.symmetry.orbits.stabiliser_runs import lifted

    network = with_components(question)
    assert network is not None  # by `obstacle`
    composed = yield from components.composed_if_named(question, network, trace)
    system = network.system if composed is None else composed.reduced.network
    refused: list[str] = []
    symmetry = yield from symmetry_of(system, question.options, refused)
    if symmetry is None:
        raise NotApplicableError(nothing_found(refused))
    actions = [a for a in network.actions if a in system.action_index]
    table = yield from network.automaton(question.given, actions, trace)
    letters = letters_of(system, actions)
    blocks = yield from stabiliser(symmetry, table, letters)
    product = OrbitProduct(question, symmetry, blocks, table, letters, question.given)
    plan = question.settled(question.given, table, None)
    if composed is not None:
        plan = composed.noted(plan)
    trace.plan = plan.reduced_by(STABILISER, _reason(symmetry, blocks))
    answer = yield from search_states(question, product, trace)
    if answer.run is not None:
        assert product.orbits is not None
        lifting = lifted(symmetry, product.orbits, blocks, answer.run)
        found = yield from trace.timed("lasso_seconds", lifting)
        answer = answer._replace(run=found)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


@dataclass
class OrbitProduct:
    """The product of the orbits of a network and an automaton."""

    question: Question
    symmetry: Symmetry
    blocks: tuple[int, ...]
    table: PropertyAutomaton
    letters: np.ndarray
    plan: Plan
    reductions: tuple[str, ...] | None = None
    orbits: PackedNetwork | None = None  # once they are packed

    def packed(self) -> Job[PackedNetwork]:
        """Return the packed quotient."""
        from ltlpipe.symmetry.orbits.stabiliser import orbit_bytes, orbits
        from ltlpipe.systems.networks.packing import pack_network

        packed = yield from pack_network(
            self.symmetry.network,
            self.letters,
            extra_values=self.table.n_states,
            seed=self.question.options.seed,
        )
        needed = orbit_bytes(self.symmetry, packed)
        grant = yield Progress("tabulating", memory_bytes=needed)
        if needed > grant.memory_bytes:
            raise StoppedError("memory")
        self.orbits = orbits(self.symmetry, packed, self.blocks)
        return self.orbits

    def problem(self, packed: Any) -> Problem:
        """Return the product of the packed quotient and the automaton."""
        from ltlpipe.search.problem import make_problem

        return make_problem(packed, self.table, stutter=self.question.stutters)

    def needed_bytes(self, packed: Any) -> int:
        """Return what the buffers of `problem` take."""
        from ltlpipe.search.problem import buffer_bytes

        return buffer_bytes(packed, self.table)


def _reason(symmetry: Symmetry, blocks: Sequence[int]) -> str:
    """Say which components the property never tells apart."""
    kept: dict[int, list[str]] = {}
    names = [name for own in symmetry.names() for name in own]
    for member, block in enumerate(blocks):
        kept.setdefault(block, []).append(names[member])
    said = "; ".join(listed(own) for own in kept.values() if len(own) > 1)
    cited = "(Emerson & Sistla 1996)"
    if not said:
        return (
            f"{STABILISER}, which leaves nothing to interchange: the property tells "
            f"all components of each class apart {cited}"
        )
    return f"{STABILISER}, because the property never tells apart {said} {cited}"
