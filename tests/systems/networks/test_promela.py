"""Promela models: their text, and Spin's opinion of them where Spin is installed."""

from __future__ import annotations

import pytest

from benchmarks import spin
from ltlpipe import check
from ltlpipe.families.networks import philosophers, random_network, ring
from ltlpipe.runtime import errors as _errors
from ltlpipe.systems.networks.exports import to_promela
from ltlpipe.systems.networks.lts import LTS, Network
from tests.oracles import accepting_run_exists, compose, is_accepting

needs_spin = pytest.mark.skipif(
    not spin.available(), reason="spin or gcc is not installed"
)


def run_spin(network, folder, *, reduce=False, formula=None):
    return spin.run_spin(
        network,
        reduce=reduce,
        workdir=folder,
        depth=100_000,
        memory_mib=256,
        timeout=60.0,
        hash_bits=16,
        optimisation="-O0",
        formula=formula,
    )


def n_stored_with_claim(network):
    """Number of states that Spin stores (`ltlpipe.systems.networks.exports`)."""
    states, edges = compose(network)
    accepts = [is_accepting(network, state) for state in states]
    return len({(0, False)} | {(dst, accepts[src]) for src, _, dst in edges})


def small_network(seed):
    """Few states, two or three components, labels shared by two."""
    return random_network(
        2 + seed % 2,
        seed=seed,
        n_states=(2, 6),
        local_ratio=(0.2, 0.5, 0.8)[seed % 3],
        n_labels=1 + seed % 2,
        accepting_ratio=0.5,
    )


def without_acceptance(network):
    return Network(
        [
            LTS.from_transitions(c.transitions(), n_states=c.n_states)
            for c in network.components
        ]
    )


def test_text_of_a_small_network():
    """One sender and one receiver, a local step, a dead end, a claim."""
    network = Network(
        [
            LTS.from_transitions(
                [(0, "a", 1), (1, "b", 0)], initial=1, accepting=[1], name="first"
            ),
            LTS.from_transitions([(0, "a", 1)], name="second"),
        ]
    )

    assert to_promela(network) == (
        "chan sync = [0] of { byte };\n"
        "\n"
        "active proctype P0() { /* first */\n"
        "S1: if\n"
        "  :: goto S0 /* b */\n"
        "  fi;\n"
        "S0: if\n"
        "  :: sync!0 -> goto S1 /* a */\n"
        "  fi;\n"
        "}\n"
        "\n"
        "active proctype P1() { /* second */\n"
        "S0: if\n"
        "  :: sync?0 -> goto S1 /* a */\n"
        "  fi;\n"
        "S1: false;\n"
        "}\n"
        "\n"
        "never { /* infinitely often, all components accept */\n"
        "rejecting: if\n"
        "  :: ((P0[0]@S1)\n"
        "     ) -> goto accept_all\n"
        "  :: else -> goto rejecting\n"
        "  fi;\n"
        "accept_all: if\n"
        "  :: ((P0[0]@S1)\n"
        "     ) -> goto accept_all\n"
        "  :: else -> goto rejecting\n"
        "  fi;\n"
        "}\n"
    )


def test_no_claim_without_acceptance():
    assert "never" not in to_promela(without_acceptance(ring(3)))


@pytest.mark.parametrize(
    ("n", "kind"), [(256, "byte"), (257, "short"), (40_000, "int")]
)
def test_message_type_grows_with_the_labels(n, kind):
    """The largest message is n - 1."""
    component = LTS.from_transitions([(0, f"a{k}", 0) for k in range(n)])
    text = to_promela(Network([component, component]))

    assert f"chan sync = [0] of {{ {kind} }};" in text
    assert f"sync?{n - 1} " in text


def test_a_label_of_three_is_refused_by_name():
    component = LTS.from_transitions([(0, "pair", 0), (0, "triple", 0)])
    other = LTS.from_transitions([(0, "triple", 0)])
    with pytest.raises(_errors.UnsupportedError, match="'triple' is shared by 3"):
        to_promela(Network([component, component, other]))


@pytest.mark.parametrize(("n", "accepting"), [(256, None), (255, [0])])
def test_too_many_processes_are_refused(n, accepting):
    """255 processes is Spin's limit, and the claim is one."""
    component = LTS.from_transitions([], accepting=accepting)
    to_promela(Network([component] * (n - 1)))
    with pytest.raises(_errors.UnsupportedError, match="256 processes"):
        to_promela(Network([component] * n))


@needs_spin
@pytest.mark.parametrize(
    "network",
    [philosophers(2), philosophers(4), ring(3), ring(4)],
    ids=lambda n: n.name,
)
def test_spin_stores_the_reachable_states(network, tmp_path):
    """The claim of the scaling families costs no state."""
    result = run_spin(network, tmp_path)

    assert result["verdict"] == "holds"
    assert result["states"] == len(compose(network)[0])


@pytest.mark.thorough("compiles C for each network, as another test does for one")
@needs_spin
@pytest.mark.parametrize("seed", range(10))
def test_spin_agrees_on_random_networks(seed, tmp_path):
    """Verdict, and the number of states if there is no accepting run."""
    network = small_network(seed)
    result = run_spin(network, tmp_path)

    assert (result["verdict"] == "violated") == accepting_run_exists(network)
    if result["verdict"] == "holds":
        assert result["states"] == n_stored_with_claim(network)


@pytest.mark.thorough("compiles C for each network, as another test does for one")
@needs_spin
@pytest.mark.parametrize("seed", range(6))
def test_spin_agrees_with_reduction(seed, tmp_path):
    """Steps that change what the claim reads are visible to Spin."""
    network = small_network(seed)
    result = run_spin(network, tmp_path, reduce=True)

    assert (result["verdict"] == "violated") == accepting_run_exists(network)


@pytest.mark.thorough("compiles C for each network, as another test does for one")
@needs_spin
@pytest.mark.parametrize("seed", range(4))
def test_spin_counts_states_without_acceptance(seed, tmp_path):
    """One state and one transition each; the initial state is found by one more."""
    network = without_acceptance(small_network(seed))
    states, edges = compose(network)
    result = run_spin(network, tmp_path)

    assert result["states"] == len(states)
    assert result["transitions"] == len(edges) + 1


@needs_spin
@pytest.mark.parametrize(
    ("accepting", "verdict"),
    [([], "holds"), ([1], "holds"), ([0], "violated"), ([0, 1, 2], "violated")],
    ids=["none", "deadlock", "loop", "all"],
)
def test_spin_judges_infinite_runs_only(accepting, verdict, tmp_path):
    """An accepting deadlock (state 1) is no run."""
    component = LTS.from_transitions(
        [(0, "a", 1), (0, "b", 2), (2, "c", 0)], accepting=accepting
    )

    assert run_spin(Network([component]), tmp_path)["verdict"] == verdict


@needs_spin
def test_spin_reads_any_label(tmp_path):
    """Names are in comments only, and cannot end them."""
    names = ['a*/ "x\\', "é'\n#if", "//", "/*", "%d"]
    component = LTS.from_transitions(
        [(0, name, 0) for name in names], accepting=[0], name="*/ never {"
    )

    assert run_spin(Network([component] * 2), tmp_path)["verdict"] == "violated"


@needs_spin
def test_spin_and_internal_labels(tmp_path):
    """An internal label does not meet the shared label of the same name."""
    steps = [(0, "i", 1), (1, "a", 2), (2, "a", 0)]
    network = Network(
        [
            LTS.from_transitions(steps, internal=["i"], accepting=[1]),
            LTS.from_transitions(steps, accepting=[2]),
            LTS.from_transitions([(0, "i", 0)], accepting=[0]),
        ]
    )
    result = run_spin(network, tmp_path)

    assert result["verdict"] == "holds"
    assert result["states"] == n_stored_with_claim(network)


@needs_spin
def test_spin_runs_as_many_processes_as_are_allowed(tmp_path):
    component = LTS.from_transitions([], accepting=[0])

    assert run_spin(Network([component] * 254), tmp_path)["states"] == 1


@pytest.mark.thorough("starts, watches or kills other processes")
@needs_spin
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"depth": 100}, "depth"),
        ({"memory_mib": 1}, "memory"),
        ({"timeout": 0.01}, "timeout"),
    ],
    ids=["depth", "memory", "timeout"],
)
def test_limits_of_a_spin_run(limits, reason, tmp_path):
    """A search that was cut short proves nothing."""
    arguments = {"workdir": tmp_path, "depth": 10**6, "hash_bits": 16} | limits
    result = spin.run_spin(
        philosophers(8), reduce=False, optimisation="-O0", **arguments
    )

    assert (result["verdict"], result["reason"]) == ("unknown", reason)


@pytest.mark.thorough("compiles C for each network, as another test does for one")
@needs_spin
@pytest.mark.parametrize("seed", range(12))
def test_spin_agrees_about_formulas(seed, tmp_path):
    """Of actions that one component takes, and two; deadlocks are no runs."""
    network = without_acceptance(small_network(seed))
    names = sorted(action.name for action in network.actions)
    a, b = names[0], names[-1]
    formula = (
        f'"{a}" -> X !"{a}"',
        f'G("{a}" -> F "{b}")',
        f'G !"{b}"',
        f'(!"{b}" W "{a}") | GF "{b}"',
        f'F "{a}" & F "{b}"',
        f'GF "{a}" -> G("{b}" -> X !"{b}")',
    )[seed % 6]
    result = run_spin(network, tmp_path, formula=formula)

    assert result["verdict"] == check(network, formula).verdict


def test_what_was_done_last():
    """Numbers of watched actions, 0 for others, in both kinds of steps."""
    own = LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "c", 1)])
    other = LTS.from_transitions([(0, "b", 0), (0, "c", 0)])
    text = to_promela(Network([own, other]), ["c"])

    assert "byte last;\nchan sync = [0] of { byte, byte };" in text
    assert "last = 0 -> goto S1" in text
    assert {"sync!0,0", "sync?0,last", "sync!1,1", "sync?1,last"} <= set(text.split())
