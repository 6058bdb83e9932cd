"""Slow twins: what the package computes fast, once more and naively.

Nothing here shares code with a kernel.  The composition follows D. Gnad,
J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking omega-Regular
Properties with Decoupled Search", CAV 2021, Def. 2, word for word.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.networks.lts import Network

State = tuple[int, ...]
Edge = tuple[int, int, int]


def compose(network: Network) -> tuple[list[State], list[Edge]]:
    """Build the reachable part of the composition, explicitly.

    Returns the composed states in breadth-first order, the initial one first,
    and the transitions as (src, action, dst): `src` and `dst` index the states
    and `action` indexes ``network.actions``.  A local transition that stands
    twice in a component gives two transitions here.
    """
    moves = [_local_moves(component) for component in network.components]
    initial = tuple(component.initial for component in network.components)
    states = [initial]
    index = {initial: 0}
    edges = []
    for state in states:  # grows while it is read
        for action, target in _successors(network, moves, state):
            if target not in index:
                index[target] = len(states)
                states.append(target)
            edges.append((index[state], action, index[target]))
    return states, edges


def accepting_run_exists(network: Network) -> bool:
    """Whether a reachable state in which all components accept reaches itself."""
    states, edges = compose(network)
    followers: list[set[int]] = [set() for _ in states]
    for src, _, dst in edges:
        followers[src].add(dst)
    return any(
        reaches(followers, start, start)
        for start, state in enumerate(states)
        if is_accepting(network, state)
    )


def each_component_accepts(network: Network) -> bool:
    """Whether a run has accepting states of each component infinitely often."""
    import spot

    states, edges = compose(network)
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    accepting = [i for i, c in enumerate(network.components) if c.accepting is not None]
    graph.set_generalized_buchi(len(accepting))
    graph.new_states(len(states))
    graph.set_init_state(0)
    anything = spot.formula_to_bdd(spot.formula.tt(), graph.get_dict(), graph)
    for src, _, dst in edges:
        marks = [
            mark
            for mark, i in enumerate(accepting)
            if is_accepting_locally(network.components[i], states[src][i])
        ]
        graph.new_edge(src, dst, anything, marks)
    return not graph.is_empty()


def is_accepting_locally(component: Any, local: int) -> bool:
    """Whether a component accepts in one of its states."""
    return component.accepting is None or bool(component.accepting[local])


def is_accepting(network: Network, state: State) -> bool:
    """Whether every component with acceptance accepts in `state`."""
    return all(
        is_accepting_locally(component, local)
        for component, local in zip(network.components, state, strict=True)
    )


def reaches(followers: list[set[int]], start: int, goal: int) -> bool:
    """Whether one or more transitions lead from `start` to `goal`."""
    todo = list(followers[start])
    seen = set(todo)
    while todo:
        state = todo.pop()
        if state == goal:
            return True
        todo += followers[state] - seen
        seen |= followers[state]
    return False


def _local_moves(component):
    """Map (state, label) to the list of targets, one entry per transition."""
    moves = {}
    for src, label, dst in component.transitions():
        moves.setdefault((src, label), []).append(dst)
    return moves


def _successors(network, moves, state):
    """Yield (action, target) for every composed transition that leaves `state`."""
    for number, action in enumerate(network.actions):
        who = action.participants
        choices = [moves[i].get((state[i], action.name), []) for i in who]
        for targets in product(*choices):
            successor = list(state)
            for i, target in zip(who, targets, strict=True):
                successor[i] = target
            yield number, tuple(successor)


def satisfies(formula: Any, prefix: list[Any], cycle: list[Any]) -> bool:
    """Whether the word ``prefix cycle cycle ...`` satisfies a formula.

    Its letters are actions, or sets of the propositions that hold.  `formula` is Spot's
    tree; it is evaluated position by position, by the definition of LTL and fixpoints,
    without any automaton.
    """
    word = [*prefix, *cycle]
    following = [*range(1, len(word)), len(prefix)]

    def fixpoint(start: bool, step: Any) -> list[bool]:
        values = [start] * len(word)
        while True:
            new = [step(i, values[following[i]]) for i in range(len(word))]
            if new == values:
                return values
            values = new

    def evaluate(node: Any) -> list[bool]:
        kind = node.kindstr()
        if kind == "ap":
            name = node.ap_name()
            return [
                name in letter if isinstance(letter, frozenset) else name == letter
                for letter in word
            ]
        parts = [evaluate(child) for child in node]
        if kind in ("tt", "ff"):
            return [kind == "tt"] * len(word)
        if kind in ("Not", "X"):
            (a,) = parts
            if kind == "Not":
                return [not value for value in a]
            return [a[following[i]] for i in range(len(word))]
        if kind in ("And", "Or"):
            joined = all if kind == "And" else any
            return [joined(column) for column in zip(*parts, strict=True)]
        if kind in ("F", "G"):
            (a,) = parts
            if kind == "F":
                return fixpoint(False, lambda i, later: a[i] or later)
            return fixpoint(True, lambda i, later: a[i] and later)
        a, b = parts
        return {
            "Implies": lambda: [not x or y for x, y in zip(a, b, strict=True)],
            "Equiv": lambda: [x == y for x, y in zip(a, b, strict=True)],
            "Xor": lambda: [x != y for x, y in zip(a, b, strict=True)],
            "U": lambda: fixpoint(False, lambda i, n: b[i] or (a[i] and n)),
            "W": lambda: fixpoint(True, lambda i, n: b[i] or (a[i] and n)),
            "R": lambda: fixpoint(True, lambda i, n: b[i] and (a[i] or n)),
            "M": lambda: fixpoint(False, lambda i, n: b[i] and (a[i] or n)),
        }[kind]()

    return evaluate(formula)[0]


def spot_verdict(
    network: Network,
    formula: Any,
    *,
    stutter: bool = False,
    fairness: str | None = None,
    sets: Sequence[set[int]] = (),
    together: bool = True,
) -> str:
    """Return the verdict by Spot on the explicit composition.

    `formula` is Spot's tree.  The automaton of its negation is made without
    simplification, and the product is Spot's.
    """
    import spot

    violations = spot.translate(spot.formula_Not(formula), "any", "low")
    return intersection_verdict(
        network,
        violations,
        stutter=stutter,
        fairness=fairness,
        sets=sets,
        together=together,
    )


def intersection_verdict(
    network: Network,
    violations: Any,
    *,
    stutter: bool,
    fairness: str | None = None,
    sets: Sequence[set[int]] = (),
    together: bool = True,
) -> str:
    """Return whether no accepted run of `network` is one of the violations.

    Accepting components do so in the same state, or each for itself unless `together`.
    With `fairness` "weak" or "strong" only runs count that are fair to each of
    `sets`, actions of the network.  Each set has two marks: where it is not enabled,
    or enabled, and where it is taken.
    """
    import buddy
    import spot

    states, edges = compose(network)
    graph = spot.make_twa_graph(violations.get_dict())
    graph.copy_ap_of(violations)
    variables = {p.ap_name(): graph.register_ap(p) for p in violations.ap()}

    def label(held: str | None) -> Any:
        letter = buddy.bddtrue
        for name, variable in variables.items():
            literal = buddy.bdd_ithvar if name == held else buddy.bdd_nithvar
            letter &= literal(variable)
        return letter

    first = "Fin" if fairness == "strong" else "Inf"
    accepting = [k for k, c in enumerate(network.components) if c.accepting is not None]
    own = 1 if together else len(accepting)
    fair = [
        f"({first}({own + 2 * k})|Inf({own + 2 * k + 1}))" for k in range(len(sets))
    ]
    seen = [f"Inf({k})" for k in range(own)]
    graph.set_acceptance(own + 2 * len(sets), "&".join([*seen, *fair]) or "t")
    graph.new_states(len(states))
    graph.set_init_state(0)
    enabled = enabled_actions(len(states), edges)

    def marks(src: int, action: int | None) -> list[int]:
        found = [0] if together and is_accepting(network, states[src]) else []
        if not together:
            for mark, k in enumerate(accepting):
                if is_accepting_locally(network.components[k], states[src][k]):
                    found.append(mark)
        for k, some in enumerate(sets):
            if bool(enabled[src] & some) == (fairness == "strong"):
                found.append(own + 2 * k)
            if action in some:
                found.append(own + 2 * k + 1)
        return found

    for src, action, dst in edges:
        known = network.actions[action]
        letter = label(None if known.internal else known.name)
        graph.new_edge(src, dst, letter, marks(src, action))
    if stutter:
        for src in set(range(len(states))) - {src for src, _, _ in edges}:
            graph.new_edge(src, src, label(None), marks(src, None))
    return "violated" if violations.intersects(graph) else "holds"


def enabled_actions(n_states: int, edges: list[Edge]) -> list[set[int]]:
    """Return the actions that are enabled in each composed state."""
    enabled: list[set[int]] = [set() for _ in range(n_states)]
    for src, action, _ in edges:
        enabled[src].add(action)
    return enabled


def actions_of_components(network: Network) -> list[set[int]]:
    """Return the actions in which each component takes part."""
    return [
        {k for k, action in enumerate(network.actions) if i in action.participants}
        for i in range(len(network.components))
    ]


def is_fair(
    network: Network, lasso: Any, fairness: str, sets: Sequence[set[int]]
) -> bool:
    """Whether the run of a lasso is fair to sets of actions, by the definition."""
    states, edges = compose(network)
    enabled = dict(zip(states, enabled_actions(len(states), edges), strict=True))
    k = len(lasso.prefix)
    visited = [enabled[tuple(state)] for state in lasso.states[k:-1].tolist()]
    taken = set(lasso.actions[k:].tolist())
    quantified = any if fairness == "strong" else all
    return not any(
        quantified(bool(now & some) for now in visited) and not taken & some
        for some in sets
    )


def accepts(automaton: Any, prefix: list[int], cycle: list[int]) -> bool:
    """Whether a property table accepts the word ``prefix cycle cycle ...`` of letters.

    Every set of marks that a closed walk over the word collects is found, and the
    condition evaluated on it: the definition, and neither SCCs nor clauses.
    """
    word = [*prefix, *cycle]
    following = [*range(1, len(word)), len(prefix)]

    def steps(node: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        state, i = node
        at = state * automaton.n_letters + word[i]
        edges = range(automaton.first_edge[at], automaton.first_edge[at + 1])
        return [
            ((int(automaton.edge_dst[e]), following[i]), int(automaton.edge_marks[e]))
            for e in edges
        ]

    reached = {(automaton.initial, 0)}
    todo = list(reached)
    while todo:
        new = {node for node, _ in steps(todo.pop())} - reached
        reached |= new
        todo += new
    return any(
        _is_accepted(automaton, marks)
        for start in reached
        for marks in _collected(start, steps)
    )


def _is_accepted(automaton: Any, marks: int) -> bool:
    if automaton.condition is None:
        return marks == (1 << automaton.n_marks) - 1
    return bool(automaton.condition.satisfied_by(marks))


def _collected(start: Any, steps: Any) -> set[int]:
    """Return the sets of marks of the closed walks from `start`."""
    seen = set()
    todo = list(steps(start))
    while todo:
        node, marks = todo.pop()
        if (node, marks) not in seen:
            seen.add((node, marks))
            todo += [(after, marks | more) for after, more in steps(node)]
    return {marks for node, marks in seen if node == start}


def reachable_markings(net, limit):
    """At most `limit` markings of a net, breadth first."""
    seen = dict.fromkeys([net.initial()])
    waiting = [net.initial()]
    for state in waiting:
        for _, target in net.steps(state):
            if target not in seen and len(seen) < limit:
                seen[target] = None
                waiting.append(target)
    return list(seen)
