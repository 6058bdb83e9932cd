"""Search of sets of states that interchangeable components make alike.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6; docs/symmetry.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.question.conditions import AMPLE, STABILISER, SYMMETRY
from ltlpipe.question.network import with_components
from ltlpipe.question.plan import not_generalised
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.identity_cache import Beside
from ltlpipe.runtime.jobs import Progress, StoppedError
from ltlpipe.search.catalogue import AEC_CLOSED, POWERSET
from ltlpipe.strategies import components, symmetric_nets
from ltlpipe.strategies.explicit import obstacle_of_marks
from ltlpipe.strategies.state_search import ends_of, searched
from ltlpipe.strategies.symmetric_nets import (
    WORTH_IT,
    with_colours,
    with_search,
)
from ltlpipe.symmetry.classes.group import listed
from ltlpipe.symmetry.classes.notation import names_of_class
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from ltlpipe.question.answer import Answer, Plan, Trace
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.lts import Network
    from ltlpipe.systems.runs import Run

name = SYMMETRY
supersedes: str | None = None
needs_kernels = True
takes_colours = True

_found: Beside[dict[int, tuple[Symmetry | None, tuple[str, ...]]]] = Beside(dict)
"""What was found for each network, by the least size of a class: one is asked a lot.

And why components that look alike are in no class."""


def is_named(options: Options) -> bool:
    """Whether the options ask for it by name, so that it must not be left out."""
    return options.wants_symmetry


def obstacle(question: Question) -> str | None:
    """Return why it cannot be used, as far as that costs nothing to know."""
    options, named = question.options, question.given.emptiness
    network = with_components(question)
    net = with_colours(question)
    if network is None and net is None:
        return "the system has neither components nor colours"
    if named is not None and named not in POWERSET:
        return f"{named} looks at one state at a time"
    if named is None and not options.reduces(SYMMETRY):
        return "--reduce does not name it"
    if question.fairness is not None:
        return f"fairness tells {'colours' if network is None else 'components'} apart"
    if options.omitting is not None:
        return f"{options.omitting} looks at one state at a time"
    if options.wants_decoupling:
        return "decoupled search, which is requested, has sets of another kind"
    if options.insists_on(AMPLE):
        return "ample sets are chosen for states, not for sets: leave one out"
    return obstacle_of_marks(question)


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    net = with_colours(question)
    if net is not None:
        return (yield from symmetric_nets.job(net, trace))
    network = with_components(question)
    assert network is not None  # by `obstacle`
    if not is_named(question.options) and len(network.system.components) < WORTH_IT:
        raise NotApplicableError("too few components to be interchanged")
    composed = yield from components.composed_if_named(question, network, trace)
    system = network.system if composed is None else composed.reduced.network
    refused: list[str] = []
    symmetry = yield from symmetry_of(system, question.options, refused)
    if symmetry is None:
        raise NotApplicableError(nothing_found(refused))
    actions = [a for a in network.actions if a in system.action_index]
    table = yield from network.automaton(question.given, actions, trace)
    if table.condition is not None:
        raise NotApplicableError(not_generalised(table))
    plan = question.settled(with_search(question.given), table, None)
    if composed is not None:
        plan = composed.noted(plan)
    trace.plan = _noted(plan, symmetry, refused)
    answer = yield from _search(question, symmetry, table, actions, trace)
    if composed is not None:
        answer = yield from composed.lifted(answer, trace)
    return answer


def symmetry_of(
    network: Network, options: Options, refused: list[str] | None = None
) -> Job[Symmetry | None]:
    """Return the symmetry of a network: what the user declares, or what there is.

    Classes of two are used only if the user asks for symmetry, or for its quotient.
    Why components that look alike are in no class is appended to `refused`.
    """
    from ltlpipe.symmetry.classes.declaration import declared_symmetry
    from ltlpipe.symmetry.classes.detection import find_symmetry

    if options.symmetric:
        declared = [names_of_class(text) for text in options.symmetric]
        given = yield from declared_symmetry(network, declared)
        return given
    named = options.wants_symmetry or options.insists_on(STABILISER)
    least = 2 if named else WORTH_IT
    found = _found.of(network)
    if least not in found:
        reasons: list[str] = []
        symmetry = yield from find_symmetry(network, least=least, refused=reasons)
        nothing: Any = None  # a reference would keep the network for ever
        kept = symmetry and replace(symmetry, network=nothing)
        found[least] = kept, tuple(reasons)
    kept, said = found[least]
    if refused is not None:
        refused += said
    return kept and replace(kept, network=network)


def nothing_found(refused: list[str]) -> str:
    """Say that there is no symmetry, and why classes were refused."""
    why = f": {'; '.join(refused)}" if refused else ""
    return f"no two components were found that can be interchanged{why}"


def _search(
    question: Question,
    symmetry: Symmetry,
    table: Any,
    actions: list[str],
    trace: Trace,
) -> Job[Answer]:
    """Search the symbolic product for an accepting run."""
    from ltlpipe.components.alphabet import letters_of
    from ltlpipe.symmetry.orbits.stabiliser import stabiliser
    from ltlpipe.symmetry.sets.networks.concretise import Underlying, run_through
    from ltlpipe.symmetry.sets.networks.starts import from_initial_state
    from ltlpipe.symmetry.sets.networks.tables import product_bytes, symbolic_product
    from ltlpipe.symmetry.sets.runs import SetRuns
    from ltlpipe.symmetry.sets.searching import PowersetSearch
    from ltlpipe.systems.networks.packing import pack_network

    options, stutter = question.options, question.stutters
    ends = ends_of(question, table, trace).nonzero()[0].tolist()
    letters = letters_of(symmetry.network, actions)
    packed = yield from pack_network(
        symmetry.network, letters, extra_values=table.n_states, seed=options.seed
    )
    needed = product_bytes(symmetry, packed, table)
    grant = yield Progress("tabulating", memory_bytes=needed)
    if needed > grant.memory_bytes:
        raise StoppedError("memory")
    emptiness = trace.plan.emptiness
    assert emptiness is not None  # since `settle`
    automaton = yield from symbolic_product(
        symmetry,
        packed,
        table,
        letters,
        stutter=stutter,
        closes=emptiness == AEC_CLOSED,
        ends=ends,
    )
    yield from automaton.ready()
    search = PowersetSearch(automaton, emptiness)

    def extraction() -> Job[Run]:
        sets = yield from SetRuns(search).accepting()
        underlying = Underlying(
            symmetry, packed, table, letters, stutter=stutter, ends=ends
        )
        found = yield from run_through(underlying, search, sets)
        blocks = yield from stabiliser(symmetry, table, letters)
        return from_initial_state(symmetry, blocks, found)

    limit = options.max_states
    return (yield from searched(question, search, trace, extraction, max_states=limit))


def _noted(plan: Plan, symmetry: Symmetry, refused: list[str]) -> Plan:
    """Say in a settled plan which components are interchanged, and which are not."""
    classes = "; ".join(listed(names) for names in symmetry.names())
    besides = f"; refused: {'; '.join(refused)}" if refused else ""
    return plan.reduced_by(
        SYMMETRY,
        f"{SYMMETRY}, because {classes} can be interchanged (Baarir & "
        f"Duret-Lutz 2006, Sec. 6){besides}",
    )
