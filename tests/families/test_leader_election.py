"""Leader election: components, sizes, who wins, the nine properties."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.families import leader_election as module
from benchmarks.families.leader_election import leader_election
from ltlpipe import LTS, Network, check
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.runtime import errors as _errors
from tests.oracles import compose, spot_verdict

FORMULAS = Path(__file__).parents[2] / "formulas" / "leader-election.ltl"

LINE = [(1, 2), (2, 3)]
MIDDLE_FIRST = [(1, 2), (1, 3)]
STAR = [(1, 4), (2, 4), (3, 4)]

# Schwoon & Esparza 2005, Table 1: violated in a variant, not weak.
VIOLATED = {1: set("BEHI"), 2: set("ABEGH")}
NOT_WEAK = set("ABHI")


@pytest.fixture(scope="module")
def triangles():
    """The election on three nodes in both variants."""
    return {variant: leader_election(variant=variant) for variant in (1, 2)}


@pytest.mark.parametrize("variant", [1, 2])
def test_components(variant):
    """Nodes, then channels; only they share labels, and each with one node."""
    network = leader_election(3, variant=variant, edges=LINE)
    names = [component.name for component in network.components]

    assert names[:3] == ["node1", "node2", "node3"]
    assert names[3:] == ["channel1_2", "channel2_1", "channel2_3", "channel3_2"]
    assert not network.has_acceptance
    for action in network.actions:
        kind, *rest = action.name.split("_")
        if kind in ("send", "recv"):
            node = rest[0] if kind == "send" else rest[1]
            expected = (
                names.index(f"node{node}"),
                names.index("channel" + "_".join(rest[:2])),
            )
        else:
            expected = (int(rest[0]) - 1,)
        assert action.participants == expected, action.name


@pytest.mark.parametrize("variant", [1, 2])
def test_events_can_be_named(variant, triangles):
    """Also those that never happen: node 1 does not lose in variant 1."""
    names = triangles[variant].action_index

    for event in ("start", "elected", "lost", "finished"):
        assert all(f"{event}_{node}" in names for node in (1, 2, 3))
    assert all(re.fullmatch(r"[a-z]+(_\w+)+", name) for name in names)


@pytest.mark.parametrize(
    ("n", "edges", "variant", "n_states", "n_transitions"),
    [
        (2, None, 1, 34, 50),
        (2, None, 2, 68, 100),
        (3, LINE, 1, 458, 1_112),
        (3, LINE, 2, 1_366, 3_322),
        (3, None, 1, 2_952, 8_562),
    ],
)
def test_sizes(n, edges, variant, n_states, n_transitions):
    """The table of the docstring; every state has a successor."""
    states, steps = compose(leader_election(n, variant=variant, edges=edges))

    assert (len(states), len(steps)) == (n_states, n_transitions)
    assert {src for src, _, _ in steps} == set(range(n_states))


@pytest.mark.parametrize(
    ("n", "variant", "n_states", "n_transitions"),
    [(3, 2, 8_856, 25_686), (4, 1, 47_786, 182_015), (4, 2, 191_144, 728_060)],
)
def test_sizes_by_search(n, variant, n_states, n_transitions):
    """Where a naive composition takes long: the search for an action that is none."""
    network = leader_election(n, variant=variant)
    never = LTS.from_transitions([(1, "never", 1)])
    verdict = check(Network([*network.components, never]), "G !never", reduce="none")

    sizes = (verdict.stats.states, verdict.stats.transitions)
    assert verdict.verdict == "holds"
    assert sizes == (n_states, n_transitions)


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize(
    ("n", "edges"),
    [(2, None), (3, None), (3, LINE), (3, MIDDLE_FIRST), (4, STAR), (4, None)],
    ids=["pair", "triangle", "line", "middle-first", "star", "ring"],
)
def test_every_node_starts_again_and_again(n, edges, variant):
    """Also where a deadlock would count: there is none."""
    network = leader_election(n, variant=variant, edges=edges)
    goal = " & ".join(f"GF start_{node}" for node in range(1, n + 1))

    assert check(network, goal, deadlock="stutter").verdict == "holds"


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize(
    ("n", "edges"),
    [
        (2, None),
        (3, None),
        (3, LINE),
        (3, MIDDLE_FIRST),
        (4, STAR),
    ],
    ids=["pair", "triangle", "line", "middle-first", "star"],
)
def test_one_right_winner_per_round(n, edges, variant):
    """From one election to the next every other node loses, once."""
    network = leader_election(n, variant=variant, edges=edges)
    nodes = range(1, n + 1)
    somebody = "(" + " | ".join(f"elected_{node}" for node in nodes) + ")"
    formulas = [f"!{somebody} U elected_1"]
    for winner in nodes if variant == 2 else [1]:
        following = winner % n + 1 if variant == 2 else winner
        formulas.append(f"G(elected_{winner} -> X(!{somebody} U elected_{following}))")
        for loser in set(nodes) - {winner}:
            formulas.append(
                f"G(elected_{winner} -> (!start_{loser} U (lost_{loser}"
                f" & X(!(lost_{loser} | start_{loser}) U finished_{loser}))))"
            )
        formulas.append(
            f"G(elected_{winner} -> (!(start_{winner} | lost_{winner})"
            f" U finished_{winner}))"
        )

    verdicts = {formula: check(network, formula).verdict for formula in formulas}
    assert set(verdicts.values()) == {"holds"}, verdicts


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("edges", [LINE, None], ids=["line", "triangle"])
def test_channels_refuse_nothing_that_they_have_room_for(edges, variant):
    """What the states of a channel leave out is never sent."""
    network = leader_election(3, variant=variant, edges=edges)
    names = [component.name for component in network.components]
    moves = [
        {(src, label) for src, label, _ in component.transitions()}
        for component in network.components
    ]
    sends = {
        (node, src, label): names.index("channel{1}_{2}".format(*label.split("_")))
        for node in (0, 1, 2)
        for src, label in moves[node]
        if label.startswith("send")
    }
    lengths = [queue_lengths(component) for component in network.components]
    refused = {
        lengths[channel][state[channel]]
        for state in compose(network)[0]
        for (node, src, label), channel in sends.items()
        if state[node] == src and (state[channel], label) not in moves[channel]
    }

    assert refused == {2}


def queue_lengths(channel):
    """Map the states of a channel to how many messages are in it."""
    lengths = {channel.initial: 0}
    todo = [channel.initial]
    while todo:
        state = todo.pop()
        for src, label, dst in channel.transitions():
            if src == state and label.startswith("send") and dst not in lengths:
                lengths[dst] = lengths[state] + 1
                todo.append(dst)
    return lengths


def test_room_for_less_is_a_deadlock(monkeypatch):
    """Nodes 2 and 3 have joined wave 1 and find their own waves in the way."""
    monkeypatch.setattr(module, "capacity", lambda n: n - 2)
    network = leader_election()
    states, steps = compose(network)
    stuck = set(range(len(states))) - {src for src, _, _ in steps}

    assert stuck
    assert check(network, "GF start_1", deadlock="stutter").verdict == "violated"


def test_edges_in_any_form():
    """Order, direction and repetition of edges say nothing; the default is a ring."""
    ring = [(1, 2), (2, 3), (3, 4), (4, 1)]
    other = [(1, 4), (4, 3), (3, 2), (2, 1), (1, 2)]

    assert leader_election(4, edges=ring) == leader_election(4)
    assert leader_election(4, edges=iter(other)) == leader_election(4)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"n": 1}, "1 nodes hold no election: use n >= 2"),
        ({"n": 0}, "0 nodes"),
        ({"variant": 3}, "the variant must be 1 or 2, not 3"),
        ({"variant": 0}, "the variant must be 1 or 2, not 0"),
        ({"edges": [(1, 2), (2, 4)]}, "edge 2-4 names no node 4: use 1 to 3"),
        ({"edges": [(0, 1)]}, "edge 0-1 names no node 0"),
        ({"edges": [(1, 2), (3, 3)]}, "edge 3-3 is a loop"),
        ({"edges": [(2, 3)]}, "no path leads from node 1 to node 2"),
        ({"edges": []}, "no path"),
    ],
    ids=str,
)
def test_errors(arguments, complaint):
    with pytest.raises(_errors.UnsupportedError, match=complaint):
        leader_election(**arguments)


def documented():
    """The formula and what its comment says, by the letter of each property."""
    text = FORMULAS.read_text()
    heads = re.findall(
        r"^# ([A-Z])\.  Variant 1: (\w+)\.  Variant 2: (\w+)\.  Negation: ([\w ]+)\.$",
        text,
        re.MULTILINE,
    )
    formulas = read_formulas(FORMULAS)
    assert len(heads) == len(formulas)
    return {
        letter: (formula, {1: first, 2: second}, weak)
        for (letter, first, second, weak), formula in zip(heads, formulas, strict=True)
    }


@pytest.mark.parametrize("letter", "ABCDEFGHI")
def test_documented_kinds(letter):
    """Those of Table 1, and each formula stands below its letter."""
    formula, verdicts, weak = documented()[letter]
    lines = FORMULAS.read_text().splitlines()
    above = [line for line in lines[: formula.line] if re.match(r"# [A-Z]\. ", line)]

    assert above[-1].startswith(f"# {letter}. ")
    for variant in (1, 2):
        expected = "violated" if letter in VIOLATED[variant] else "holds"
        assert verdicts[variant] == expected
    assert weak == ("not weak" if letter in NOT_WEAK else "weak")


@pytest.mark.parametrize("letter", "ABCDEFGHI")
@pytest.mark.parametrize("acceptance", [["TGBA"], ["Buchi", "SBAcc"]], ids=" ".join)
def test_weakness(letter, acceptance):
    """The automaton of the negation is weak, or not even inherently weak."""
    import spot

    formula, _, weak = documented()[letter]
    negation = spot.formula.Not(formula.spot)
    automaton = spot.translate(negation, *acceptance, xargs="ba-simul=1")

    assert spot.is_weak_automaton(automaton) == (weak == "weak")
    assert spot.is_inherently_weak_automaton(automaton) == (weak == "weak")


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("emptiness", ["se05", "couvreur99"])
@pytest.mark.parametrize("letter", "ABCDEFGHI")
def test_verdicts(letter, emptiness, variant, triangles):
    """What the file says, without a warning about an action that is not there."""
    formula, verdicts, _ = documented()[letter]
    verdict = check(triangles[variant], formula.text, emptiness=emptiness)

    assert verdict.verdict == verdicts[variant]


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("letter", "ABCDEFGHI")
def test_verdicts_on_a_line(letter, variant):
    """As Spot judges the explicit composition."""
    network = leader_election(3, variant=variant, edges=LINE)
    formula, _, _ = documented()[letter]

    assert check(network, formula.text).verdict == spot_verdict(network, formula.spot)


def test_h_takes_a_search_far(triangles):
    """Its counterexample is found when most of the system has been seen."""
    formula, _, _ = documented()["H"]
    verdict = check(triangles[1], formula.text, reduce="none", emptiness="se05")

    assert verdict.stats.states > 2_952 / 2
