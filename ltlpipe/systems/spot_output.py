"""Systems as graphs of Spot: networks as automata, models as Kripke structures.

They are explored in plain Python, state by state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import marks_in
from ltlpipe.automata.graphs import kripke_structure, vocabulary
from ltlpipe.logic.propositions.syntax import uses_step
from ltlpipe.logic.spot_graphs import automaton_of, valuation
from ltlpipe.runtime.errors import UnsupportedError, warn
from ltlpipe.runtime.names import counted
from ltlpipe.systems.plain_steps import NetworkSteps, TooLargeError
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from ltlpipe.systems.models import Model
    from ltlpipe.systems.networks.lts import Network

MAX_STATES = 100_000
"""States of an explicit graph, if not more are asked for."""


def explored(
    initial: Hashable,
    steps: Callable[[Any], Iterable[tuple[Hashable, Any]]],
    max_states: int,
    what: str,
) -> tuple[list[Any], list[tuple[int, int, Any]]]:
    """Return the states of a graph, explored breadth first, and its edges.

    States are in the order in which they were reached, the initial one first; an edge
    is source, target, and what is known of the step.  `steps` says where a state
    leads, and something of each step; `what` is the graph's name in messages.

    Raises
    ------
    UnsupportedError
        It has more than `max_states` states.
    """
    numbers: dict[Hashable, int] = {initial: 0}
    states: list[Hashable] = [initial]
    edges = []
    try:
        for src, state in enumerate(states):  # it grows
            for target, about in steps(state):
                dst = numbers.setdefault(target, len(states))
                if dst == len(states):
                    if dst >= max_states:
                        raise UnsupportedError(
                            f"{what} has more than {counted(max_states, 'state')}: "
                            "--max-states (max_states=) allows more"
                        )
                    states.append(target)
                edges.append((src, dst, about))
    except TooLargeError:
        raise UnsupportedError(f"{what} has a state with too many steps") from None
    return states, edges


def network_to_spot(network: Network, max_states: int = MAX_STATES) -> Any:
    """Do the work of `Network.to_spot`."""
    names = {k: name for name, k in network.action_index.items()}
    try:
        view = NetworkSteps(network)
    except TooLargeError:
        raise UnsupportedError("a component has too many transitions") from None
    states, edges = explored(
        view.initial(),
        lambda state: ((s.state, (s.action, s.marks)) for s in view.steps(state)),
        max_states,
        network.name or "the network",
    )
    known = vocabulary(list(network.action_index))
    labels = {
        action: valuation(known, [names[action]] if action in names else [])
        for action in {about[0] for *_, about in edges}
    }
    automaton = automaton_of(
        len(states),
        ((src, dst, labels[a], marks_in(ms)) for src, dst, (a, ms) in edges),
        like=known,
        n_marks=view.n_marks,
        names=[",".join(map(str, state)) for state in states],
    )
    automaton.prop_state_acc(True)
    if network.name:
        automaton.set_name(network.name)
    return automaton


def model_to_spot(
    model: Model,
    propositions: Sequence[str],
    max_states: int = MAX_STATES,
    *,
    stutters: bool = True,
) -> Any:
    """Do the work of `Model.to_spot`."""
    if isinstance(propositions, str):
        raise UnsupportedError(
            f"propositions={propositions!r}: expected a list of texts, such as "
            f"[{propositions!r}]"
        )
    model = model.for_question(propositions)
    if model.only_stuttering:  # nothing refuses what is asked of the graph
        warn(
            f"{model.only_stuttering}; so only stutter-invariant properties can be "
            "asked of the graph"
        )
    meanings = {p: model.meaning(p) for p in propositions}
    for text, meaning in meanings.items():
        if uses_step(meaning):
            raise UnsupportedError(
                f"{text} is about steps, and the letters of a Kripke structure are on "
                "states"
            )

    dead = set()

    def steps(state: Any) -> list[tuple[Any, None]]:
        known = dict.fromkeys(step.state for step in model.each_step(state))
        if not known:
            dead.add(state)
        if not known and stutters:
            known = {state: None}
        return [*known.items()]

    states, edges = explored(
        model.initial(), steps, max_states, model.name or "the model"
    )
    holding = [
        [p for p, m in meanings.items() if evaluate(m, state, dead=state in dead)]
        for state in states
    ]
    graph = kripke_structure(
        list(meanings),
        holding,
        ((src, dst) for src, dst, _ in edges),
        [
            ", ".join(f"{name}={value}" for name, value in model.shown(state).items())
            for state in states
        ],
    )
    if model.name:
        graph.set_name(model.name)
    return graph
