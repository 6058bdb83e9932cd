"""Property automata as users have them: alternation, several starts, other syntaxes."""

import random
from typing import Any

import pytest
import spot

from benchmarks.alternating import alternating
from benchmarks.dialects import PROPERTIES
from ltlpipe import LTS, Network, check, load, product, save
from ltlpipe.automata.given_automata import parse_automata, parse_job, read_automaton
from ltlpipe.automata.graphs import kripke_structure
from ltlpipe.automata.hoa import hoa_text
from ltlpipe.batch.tasks import Digests
from ltlpipe.runtime.errors import InputError, UnsupportedError, silenced
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition

RING = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "b", 1)])])


def same_words(found, automaton):
    """Whether two automata accept the same words; each has its own dictionary."""
    return spot.are_equivalent(spot.automaton(found.to_str("hoa")), automaton)


def agrees(formula):
    """Compare with Spot's translation; return whether the automaton was alternating."""
    text = alternating(formula)
    (found,) = parse_automata(text, "m.hoa")
    assert found.is_existential()
    assert same_words(found, spot.translate(formula)), str(formula)
    return not spot.automaton(text).is_existential()


def formulas(seed, n):
    tree = spot.randltl(["a", "b", "c"], seed=seed, tree_size=(3, 9))
    return [next(tree) for _ in range(n)]


def test_alternating_automata_of_formulas():
    """Universal branching and all: against Spot's translation."""
    assert sum(map(agrees, formulas(1, 200))) > 20


@pytest.mark.slow
def test_alternating_automata_of_many_formulas():
    assert sum(map(agrees, formulas(2, 4_000))) > 400


def random_text(rng):
    """A random Büchi automaton in HOA, with some of its states initial."""
    n = rng.randint(1, 4)
    starts = sorted(rng.sample(range(n), rng.randint(1, n)))
    lines = []
    for s in range(n):
        lines.append(f"State: {s}{rng.choice(['', ' {0}'])}")
        for _ in range(rng.randint(0, 3)):
            lines.append(
                f"[{rng.choice(['0', '!0', '1', '!1', 't'])}] {rng.randrange(n)}"
            )
    begin = "".join(f"Start: {s}\n" for s in starts)
    text = (
        f'HOA: v1\nStates: {n}\n{begin}AP: 2 "a" "b"\nAcceptance: 1 Inf(0)\n--BODY--\n'
        + "\n".join(lines)
        + "\n--END--\n"
    )
    return text, starts, begin


def test_several_initial_states_are_a_union():
    rng = random.Random(3)
    for _ in range(200):
        text, starts, begin = random_text(rng)
        (found,) = run(parse_job(text, "m.hoa"))
        alone = [spot.automaton(text.replace(begin, f"Start: {s}\n")) for s in starts]
        union = alone[0]
        for one in alone[1:]:
            union = spot.product_or(union, one)
        assert same_words(found, union), text


@pytest.mark.parametrize("syntax", PROPERTIES)
def test_other_syntaxes(syntax, tmp_path):
    for formula in formulas(4, 60):
        text = PROPERTIES[syntax](formula)
        (found,) = run(parse_job(text, "m"))
        assert same_words(found, spot.translate(formula)), text
    path = tmp_path / "cat |"  # to Spot's own interface that would be a command
    path.write_text(text)
    assert same_words(read_automaton(path), spot.translate(formula))


@pytest.mark.parametrize("syntax", ["spin", "lbtt", "hoa"])
def test_a_text_is_the_automaton_of_violations(syntax):
    text = spot.translate("!G F a", "Buchi", "SBAcc").to_str(syntax)

    assert check(RING, automaton=text).verdict == "violated"
    assert check(RING, "G F a").lasso.cycle == check(RING, automaton=text).lasso.cycle


def test_ltl2ba_s_never_claim():
    text = """never { /* F G b */
T0_init :    /* init */
	if
	:: (1) -> goto T0_init
	:: (b) -> goto accept_S1
	fi;
accept_S1 :    /* 1 */
	if
	:: (b) -> goto accept_S1
	fi;
}
"""
    (found,) = parse_automata(text, "m")

    assert same_words(found, spot.translate("F G b"))


def test_comments_before_an_automaton():
    text = "/* one */ " * 3_000
    for syntax in ("hoa", "spin"):
        own = spot.translate("F b", "Buchi", "SBAcc").to_str(syntax)
        (found,) = parse_automata(text + own, "m")
        assert same_words(found, spot.translate("F b"))


def test_names_and_comments_of_never_claims():
    """Spin reads them, Spot does not; lines keep their numbers."""
    text = """// the property
never fair { /* F G
b */ T0_init : // init
	do
	:: true -> goto T0_init
	:: (b) -> goto accept_S1 // never x {
	od;
accept_S1 : do :: (b) -> goto accept_S1 od
}
"""
    (found,) = parse_automata(text, "m")
    assert same_words(found, spot.translate("F G b"))
    with pytest.raises(InputError, match=r"^m:7: "):
        parse_automata(text.replace("	od;", "	what;"), "m")


def test_labels_in_comments_of_never_claims():
    """What goes nowhere there is no statement."""
    text = "never {{ {}\nS: if\n:: (a) -> goto T\n:: (1) -> goto S\nfi;\nT: {} skip\n}}"
    (plain,) = parse_automata(text.format("", ""), "m")
    (told,) = parse_automata(text.format("/* goto L: } */", "/* goto M\nN: }*/"), "m")
    assert told.to_str("hoa") == plain.to_str("hoa")


def test_ltl2dstar():
    """A deterministic Rabin automaton: infinitely many a, finitely many b."""
    text = """DRA v2 explicit
Comment: "made by hand"
States: 2
Acceptance-Pairs: 1
Start: 0
AP: 2 "a" "b"
---
State: 0
Acc-Sig:
0
1
0
0
State: 1
Acc-Sig: +0
0
1
0
0
"""
    (found,) = parse_automata(text, "m")
    assert same_words(found, spot.translate("G F (a & !b)"))
    assert check(RING, automaton=text).verdict == "violated"


def test_quotes_in_names_of_states(tmp_path):
    """Owl has them; Spot writes them as they are, which cannot be read again."""
    text = """HOA: v1
States: 1
Start: 0
AP: 1 "a"
acc-name: Buchi
Acceptance: 1 Inf(0)
--BODY--
State: 0 "{\\"F a\\" \\\\/ X}"
[0] 0 {0}
[!0] 0
--END--
"""
    path = tmp_path / "m.hoa"
    path.write_text(text)
    found = read_automaton(path)
    assert list(found.get_state_names()) == ['{"F a" \\/ X}']
    (again,) = parse_automata(hoa_text(found), "m")
    assert list(again.get_state_names()) == list(found.get_state_names())
    again.set_state_names([])  # else Spot writes them, too
    assert same_words(again, spot.translate("G F a"))


def test_an_automaton_without_initial_state_has_no_words():
    text = "HOA: v1\nStates: 0\nAcceptance: 0 t\n--BODY--\n--END--\n"
    (found,) = parse_automata(text, "m")
    assert found.is_empty()


def test_what_contradicts_the_properties_of_an_automaton():
    text = """HOA: v1.1
States: 1
Start: 0
Acceptance: 0 t
properties: !complete
--BODY--
State: 0 [t] 0
--END--
"""
    with pytest.raises(InputError, match="m:6: automaton is complete despite 'prop"):
        parse_automata(text, "m")


# It stays in `p` but for finitely many steps, and sees `!p` again and again: no word.
CLAIMING = """HOA: v1
States: 1
Start: 0
AP: 1 "p==1"
Acceptance: 2 Fin(0) & Inf(1)
properties: trans-labels explicit-labels {}
--BODY--
State: 0
[0] 0 {{0}}
[!0] 0 {{1}}
--END--
"""


@pytest.mark.parametrize(
    "way", [{}, {"acceptance": "tgba"}, {"reduce": "none"}], ids=str
)
@pytest.mark.parametrize("claims", ["weak", "very-weak terminal", "inherently-weak"])
def test_what_an_automaton_claims_to_be_is_not_believed(claims, way):
    """Spot takes weak automata apart as if no SCC had marks of two kinds."""
    places = [Place("p", "p", 1), Place("q", "q", 0)]
    there, back = ({0: 1}, {1: 1}), ({1: 1}, {0: 1})
    net = PetriNet(places, [Transition("t", "t", *there), Transition("u", "u", *back)])
    text = CLAIMING.format(claims)

    assert check(net, automaton=text, **way).holds
    assert check(net, "false", constraint=text, **way).holds


@pytest.mark.parametrize(
    "claims",
    [
        {"weak": True},
        {"inherently_weak": True},
        {"state_acc": True},
        {"complete": False},
        {"stutter_invariant": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", [{}, {"emptiness": "se05"}, {"deadlock": "stutter"}])
def test_what_a_graph_of_spot_claims_to_be_is_not_believed(claims, way):
    """A program that adds an edge does not reset what Spot knows of the automaton."""

    def flips() -> Any:
        """Return an automaton of the words that have `a` again and again."""
        graph = spot.automaton(
            'HOA: v1 States: 2 Start: 0 AP: 1 "a" Acceptance: 1 Inf(0) --BODY--\n'
            "State: 0 [0] 1 {0} [!0] 0 State: 1 [!0] 0 [0] 1 --END--\n"
        )
        for name, holds in claims.items():
            getattr(graph, f"prop_{name}")(spot.trival(holds))
        return graph

    with silenced():
        assert (
            check(RING, automaton=flips(), seed=1, unknown="never", **way).verdict
            == "violated"
        )
        kept = check(RING, "0", constraint=flips(), seed=1, unknown="never", **way)
        assert kept.verdict == "violated"
        assert not product(RING, flips(), unknown="never").is_empty()
    graph = flips()
    check(RING, automaton=graph, unknown="never")
    assert [p.ap_name() for p in graph.ap()] == ["a"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("never {\n nonsense", "m:2: "),
        ("never", "m:1: "),
        ("never {\nS: if\n:: (a) -> goto T\nfi;\n}", "m:3: no label is called 'T'"),
        ("never {\nS: if\n:: (a) -> goto T\nfi;\nT:\n}", "m:5: a label 'T' without"),
        ("// p\n#define p x>3\nnever { skip }", "m:2: a line for a preprocessor"),
        ("2 1t\n0 1\n0 -1", "m:"),
        ("99999999 1t\n0 1\n", "m:1: the number 99999999 is beyond"),
        ("G F a", "m:1: expected an automaton in HOA"),
        ('digraph { 0 -> 1 [label=""] }', "m:1: expected an automaton in HOA"),
    ],
)
def test_what_is_no_automaton(text, expected):
    with pytest.raises(InputError) as caught:
        parse_automata(text, "m")

    assert str(caught.value).startswith(expected)


def test_alternation_that_spot_cannot_remove():
    text = (
        'HOA: v1 States: 2 Start: 0&1 AP: 1 "a" Acceptance: 1 Inf(0) --BODY--\n'
        "State: 0 [0] 0 {0} [!0] 0 State: 1 [t] 0&1 --END--"
    )
    with pytest.raises(UnsupportedError, match="automaton 1 is alternating and not"):
        parse_automata(text, "m.hoa")


def test_alternating_graphs_of_spot():
    """A graph in memory is what its text is: it had ended the worker, or a product."""
    graphs = [(f, spot.automaton(alternating(f))) for f in formulas(3, 60)]
    graphs = [(f, graph) for f, graph in graphs if not graph.is_existential()]
    assert len(graphs) > 5
    for formula, graph in graphs:
        plain = spot.translate(formula)
        for asked in ("automaton", "constraint"):
            rest = {"unknown": "never"}
            if asked == "constraint":
                rest["formula"] = "G !b"
            with silenced():
                found = check(RING, **{asked: graph}, **rest)
                expected = check(RING, **{asked: plain}, **rest)
            assert found.verdict == expected.verdict, str(formula)
        assert not graph.is_existential()


def test_alternating_graphs_in_products():
    """Spot crashed on their universal edges."""
    graph = kripke_structure(["a"], [["a"]], [(0, 0)], ["only"])
    for formula, is_empty in (("G a & F a", False), ("F !a & G a", True)):
        given = spot.automaton(alternating(spot.formula(formula)))
        assert not given.is_existential()
        assert product(graph, given).is_empty() == is_empty


def test_a_graph_that_spot_refuses_to_write(tmp_path):
    """Its properties are wrong; what is written is the automaton as it is."""
    graph = spot.automaton(
        'HOA: v1 States: 1 Start: 0 AP: 1 "a" Acceptance: 1 Inf(0) --BODY--\n'
        "State: 0 [0] 0 {0} [!0] 0 --END--\n"
    )
    graph.prop_state_acc(spot.trival(True))
    file = str(tmp_path / "graph.hoa")
    save(load(graph), file)

    assert same_words(load(file, semantics="state").graph, spot.translate("GF a"))
    assert Digests().automaton(graph) is not None
