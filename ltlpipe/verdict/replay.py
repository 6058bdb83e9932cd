"""The independent replay of a lasso.

It shares no code with the searches: the run is stepped through the components
of the network as they were read, by their labels, and Spot is asked whether the
word of its actions violates the formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.systems.lts import LTS, Network
    from ltlpipe.verdict.verdict import Lasso


class ReplayError(RuntimeError):
    """A lasso is no violation: a bug of ltlpipe, never of the input."""


def replay_run(network: Network, lasso: Lasso, *, stutters: bool = False) -> None:
    """Step a lasso through the components.

    Parameters
    ----------
    network : Network
        As it was read.
    lasso : Lasso
        With the local states before each step and after the last one.
    stutters : bool
        Whether a state without successors may repeat itself.

    Raises
    ------
    ReplayError
        The lasso is no accepting run of the network.
    """
    length = len(lasso.prefix) + len(lasso.cycle)
    states = lasso.states.tolist()
    actions = lasso.actions.tolist()
    if not lasso.cycle or len(actions) != length or len(states) != length + 1:
        raise ReplayError("the lasso's parts do not fit together")
    if states[0] != [c.initial for c in network.components]:
        raise ReplayError("the run does not begin in the initial state")
    if states[-1] != states[len(lasso.prefix)]:
        raise ReplayError("the cycle does not close")
    steps = [set(c.transitions()) for c in network.components]
    for k, name in enumerate([*lasso.prefix, *lasso.cycle]):
        if actions[k] < 0:
            if not stutters or states[k] != states[k + 1]:
                raise ReplayError(f"step {k} repeats a state but may not")
            _check_deadlock(network, steps, states[k], k)
        else:
            _check_step(network, steps, actions[k], name, states[k : k + 2], k)
    _check_acceptance(network.components, states[len(lasso.prefix) + 1 :])


def _check_step(
    network: Network,
    steps: list[set[tuple[int, str, int]]],
    action: int,
    name: str,
    states: list[list[int]],
    k: int,
) -> None:
    """Check that exactly the participants of the action take it."""
    known = network.actions[action]
    if known.name != name:
        raise ReplayError(f"step {k} is called {name!r} but is {known.name!r}")
    for i, (src, dst) in enumerate(zip(*states, strict=True)):
        takes_part = i in known.participants
        if takes_part != _synchronises(network.components[i], known.name, i, known):
            raise ReplayError(f"step {k}: component {i} and {name!r} do not match")
        if takes_part and (src, name, dst) not in steps[i]:
            raise ReplayError(f"step {k}: component {i} has no {src} -{name}-> {dst}")
        if not takes_part and src != dst:
            raise ReplayError(f"step {k}: component {i} moves without {name!r}")


def _synchronises(component: LTS, label: str, i: int, action: Any) -> bool:
    """Whether a component has to take part in an action, by its alphabet."""
    if action.internal:
        return i == action.participants[0] and label in component.internal
    return label in component.labels and label not in component.internal


def _check_deadlock(
    network: Network,
    steps: list[set[tuple[int, str, int]]],
    state: list[int],
    k: int,
) -> None:
    """Check that no action is enabled in a state that repeats itself."""
    offered = [
        {label for src, label, _ in steps[i] if src == local}
        for i, local in enumerate(state)
    ]
    for action in network.actions:
        if all(action.name in offered[i] for i in action.participants):
            raise ReplayError(f"step {k} repeats a state that {action.name!r} leaves")


def _check_acceptance(components: Sequence[LTS], cycle: list[list[int]]) -> None:
    """Check that the cycle has a state in which all components accept."""
    if not any(
        all(
            c.accepting is None or bool(c.accepting[local])
            for c, local in zip(components, state, strict=True)
        )
        for state in cycle
    ):
        raise ReplayError("no state of the cycle is accepting in all components")


def replay_word(violations: Any, lasso: Lasso, network: Network) -> None:
    """Ask Spot whether the word of a lasso is one of the violations.

    Parameters
    ----------
    violations : spot.twa_graph
        An automaton of the words that violate the property.
    lasso : Lasso
        Its actions are the word.
    network : Network
        Knows which actions no proposition can name.

    Raises
    ------
    ReplayError
        The word does not violate the property.
    """
    import buddy
    import spot

    variables = {p.ap_name(): violations.register_ap(p) for p in violations.ap()}
    nothing = buddy.bddtrue
    for variable in variables.values():
        nothing &= buddy.bdd_nithvar(variable)
    letters = {}
    for name, variable in variables.items():
        others = buddy.bdd_exist(nothing, buddy.bdd_ithvar(variable))
        letters[name] = others & buddy.bdd_ithvar(variable)
    word = spot.make_twa_graph(violations.get_dict())
    length = len(lasso.actions)
    word.new_states(length)
    word.set_init_state(0)
    for k, action in enumerate(lasso.actions.tolist()):
        visible = action >= 0 and not network.actions[action].internal
        name = network.actions[action].name if visible else None
        following = k + 1 if k + 1 < length else len(lasso.prefix)
        word.new_edge(k, following, letters.get(name, nothing))
    word.copy_ap_of(violations)
    if not violations.intersects(word):
        raise ReplayError("Spot says that the word of the lasso is no violation")


def violations_of(formula: Formula) -> Any:
    """Return an automaton of the words that violate `formula`.

    It is made in another way than the one that was searched: of any acceptance
    that comes easily, and without simplification.
    """
    import spot

    return spot.translate(spot.formula_Not(formula.spot), "any", "low")
