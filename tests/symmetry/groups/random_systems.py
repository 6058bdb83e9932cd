"""Random systems with a group of their own: events come with all their images.

`GROUPS` act on the numbers of members; some are full, some rotate or reflect, some are
products, and one moves pairs.  A system is *almost* symmetric if one image is left out.
Members of some networks and nets begin in different states.
"""

from __future__ import annotations

import io

from ltlpipe import LTS, Network, load
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model

GROUPS = {
    "rotations": [[1, 2, 3, 0]],
    "reflections": [[1, 2, 3, 0], [3, 2, 1, 0]],
    "all": [[1, 0, 2, 3], [1, 2, 3, 0]],
    "direct product": [[1, 0, 2, 3], [0, 1, 3, 2]],
    "wreath product": [[1, 0, 2, 3], [2, 3, 0, 1]],
    "pairs": [[1, 0, 3, 2]],
    "three": [[1, 2, 0]],
    "none": [],
}
"""Generators."""


def elements(generators, n):
    """All permutations that some generate."""
    found = {tuple(range(n))}
    waiting = list(found)
    while waiting:
        element = waiting.pop()
        for generator in generators:
            product = tuple(generator[k] for k in element)
            if product not in found:
                found.add(product)
                waiting.append(product)
    return sorted(found)


def drawn_group(rng):
    """A name, the number of members and all elements."""
    name = rng.choice(list(GROUPS))
    n = 3 if name == "three" else 4
    return name, n, elements(GROUPS[name], n)


def drawn_events(rng, n, group, n_states, most=3):
    """Events with their images: sets of (member, source, target), of different ones."""
    moves_of = []
    for state in range(n_states):  # what keeps members going
        if rng.random() < 0.7:
            moves_of.append([(rng.randrange(n), state, (state + 1) % n_states)])
    for _ in range(rng.randint(2, 4)):
        members = rng.sample(range(n), rng.randint(1, min(most, n)))
        ends = [(rng.randrange(n_states), rng.randrange(n_states)) for _ in members]
        moves_of.append([(m, *own) for m, own in zip(members, ends, strict=True)])
    events = []
    for moves in moves_of:
        images = {frozenset((g[m], s, t) for m, s, t in moves) for g in group}
        events.append(sorted(images, key=sorted))
    if rng.random() < 0.25:  # almost
        images = rng.choice(events)
        images.pop(rng.randrange(len(images)))
    return [event for images in events for event in images]


def drawn_initial(rng, n, n_states):
    """Where members begin: as a rule all in state 0."""
    apart = rng.random() < 0.3
    return [rng.randrange(n_states) if apart else 0 for _ in range(n)]


def network(rng):
    """A network whose components rename their states, and an action for each event."""
    _, n, group = drawn_group(rng)
    n_states = rng.randint(2, 3)
    events = drawn_events(rng, n, group, n_states)
    accepting = rng.sample(range(n_states), rng.randint(1, n_states))
    accepts = rng.random() < 0.3
    initial = drawn_initial(rng, n, n_states)
    transitions = [[] for _ in range(n)]
    for number, event in enumerate(events):
        for member, source, target in event:
            transitions[member].append((source, f"e{number}", target))
    parts = []
    for member, own in enumerate(transitions):
        names = list(range(n_states))
        rng.shuffle(names)
        parts.append(
            LTS.from_transitions(
                [(names[s], label, names[t]) for s, label, t in own],
                initial=names[initial[member]],
                n_states=n_states,
                accepting=[names[a] for a in accepting] if accepts else None,
                name=f"c{member}",
            )
        )
    order = list(range(n))
    rng.shuffle(order)
    return Network([parts[k] for k in order])


def net(rng):
    """A net of members with the same places; some arcs have weights, places tokens."""
    _, n, group = drawn_group(rng)
    n_states = rng.randint(2, 3)
    events = drawn_events(rng, n, group, n_states)
    tokens = [rng.choice([0, 0, 1, 2]) for _ in range(n_states)]
    tokens[0] = max(tokens[0], 1)
    initial = drawn_initial(rng, n, n_states)
    places = [
        Place(f"p{m}_{s}", f"p{m}_{s}", tokens[(s + initial[m]) % n_states])
        for m in range(n)
        for s in range(n_states)
    ]
    transitions = []
    for number, event in enumerate(events):
        weights = 2 if rng.random() < 0.1 and len(event) > 1 else 1
        pre = {m * n_states + s: 1 for m, s, _ in event}
        post = {m * n_states + t: weights for m, _, t in event}
        transitions.append(Transition(f"t{number}", f"t{number}", pre, post))
    rng.shuffle(transitions)
    return PetriNet(places, transitions)


def dve_model(rng):
    """A DVE model of processes that read and write each other's variables."""
    _, n, group = drawn_group(rng)
    n_states = rng.randint(2, 3)
    events = drawn_events(rng, n, group, n_states)
    lines = ["byte " + ", ".join(f"v{m}" for m in range(n)) + ";"]
    lines += [f"channel c{k};" for k in range(len(events))]
    operator = rng.choice(["+", "*"])
    own = [[] for _ in range(n)]
    for number, event in enumerate(events):
        (first, *rest) = moves = sorted(event)
        if len(moves) == 2:
            # Which of two sends must not depend on their numbers: both may.
            for sender, receiver in (moves, moves[::-1]):
                channel = f"c{number}"
                m, s, t = sender
                own[m].append(f"q{s} -> q{t} {{ sync {channel}!; }}")
                m, s, t = receiver
                own[m].append(f"q{s} -> q{t} {{ sync {channel}?; }}")
            continue
        others = [f"v{m}" for m, _, _ in rest]
        guard = f" {operator} ".join([*others, "0"]) + " < 2"
        m, s, t = first
        if rest:
            # One process moves for all: images agree only where it is the same one.
            own[m].append(f"q{s} -> q{t} {{ guard {guard}; effect v{m} = {t}; }}")
        else:
            own[m].append(f"q{s} -> q{t} {{ effect v{m} = {t}; }}")
    for m in range(n):
        states = ", ".join(f"q{s}" for s in range(n_states))
        moves = ",\n  ".join(own[m]) or "q0 -> q0 {}"
        lines.append(
            f"process P{m} {{\nstate {states};\ninit q0;\ntrans\n  {moves};\n}}"
        )
    lines.append("system async;")
    return read_dve_model("\n".join(lines), "random.dve")


STEPS = (
    "flag[_pid] = 1 - flag[_pid]",
    "turn == _pid -> turn = 255",
    "turn == 255 -> turn = _pid",
    "x < 2 -> x++",
    "x > 0 -> x--; own = 1 - own",
    "own = turn",
    "own == last -> last = turn; own = 255",
    "own == 255 -> own = _pid",
    "flag[_pid] == 1 && own != _pid -> atomic { x = 1; flag[_pid] = 0 }",
    "atomic { x < 2 -> x++; turn == 255; turn = _pid; x-- }",
    "d_step { x = 0; if :: own == 255 -> x = 1 :: flag[_pid] == 0 -> x = 2 fi }",
    "q!x",
    "q?x",
    "q!2 -> own = 255",
    "q?1",
    "r!x",
    "r?x -> own = 1 - flag[_pid]",
    "atomic { r!1; flag[_pid] = 1 }",
    "r?1 -> turn = 255",
    "timeout -> x = 0",
    "len(q) == 1 && empty(q) == 0 -> own = 0",
    "(x == 1 -> flag[_pid] : own == 255) -> last = _pid",
    "assert(x < 2 || turn != _pid)",
)
"""Statements of processes that are alike but for their numbers."""

APART = (
    "_pid == 1 -> x = 0",
    "turn < _pid -> turn = _pid",
    "x = _pid",
    "flag[0] == 1 -> own = 1",
    "q!_pid",
    "turn = (turn + 1) % 2",
    "_nr_pr == 2 -> x = 1",
    "break",
)
"""Some that tell them apart."""


def promela_model(rng):
    """A Promela model of instances of a proctype, most of which are alike."""
    n = rng.choice([2, 2, 3])
    steps = rng.sample(STEPS, rng.randint(3, 5))
    if rng.random() < 0.3:
        steps.append(rng.choice(APART))
    about_channels = ("q!", "q?", "r!", "r?", "empty")
    talks = any(mark in step for step in steps for mark in about_channels)
    if rng.random() < 0.3 and not talks:  # `else` is refused beside messages
        steps.append("else -> x = 1 - (x & 1)")
    lines = "\n".join(f"  :: {step}" for step in steps)
    text = (
        f"byte x, flag[{n}], turn = 255, last = 255;\n"
        "chan q = [1] of { byte }; chan r = [0] of { byte };\n"
        f"active [{n}] proctype P() {{ byte own = 255; do\n{lines}\n  od }}\n"
    )
    return load(io.StringIO(text), format="pml")


def promela_atoms(rng, model):
    """Propositions about one; few of them tell instances apart."""
    n = len(model.processes)
    atoms = ["x >= 1", "turn == 255", "turn == last", "deadlock", "_fault"]
    atoms.append(" || ".join(f"P[{i}]:own == 255" for i in range(n)))
    atoms.append(" + ".join(f"flag[{i}]" for i in range(n)) + " >= 2")
    if rng.random() < 0.3:
        atoms += ["turn == 1", "P[0]:own == last", "flag[1] == 1", "len(q) == 1"]
    return atoms


def common_atoms(rng, model):
    """Propositions that name all members alike: `p0_1 + p1_1 + ... >= 2`, and such."""
    stems: dict[str, list[str]] = {}
    for variable in model.variables:
        if variable[0] in "pv":
            stem = variable.partition("_")[2] or variable[0]
            stems.setdefault(stem, []).append(variable)
    atoms = ["deadlock"]
    for names in stems.values():
        atoms.append(" + ".join(names) + f" >= {rng.randint(1, len(names))}")
        atoms.append(" || ".join(f"{name} >= 1" for name in names))
        atoms += [f"{name} >= 1" for name in rng.sample(names, 2)]
    return atoms
