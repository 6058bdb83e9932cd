"""Files of other tools and by hand: every dialect is read as what was written."""

import random

import pytest
import spot

from benchmarks.dialects import DIALECTS, KRIPKE, learnlib, random_lts
from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.networks.dot import read_dot
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.reading import load

MACHINE = """digraph g {
__start0 [label="" shape="none"];
s0 -> s1 [label="coin / ok"];
s1 -> s0 [label="tea / cup"];
s1 -> s1 [label="coin / back"];
__start0 -> s0;
}
"""


def read(text, **manner):
    (found,) = read_dot(text, "m.dot", **manner)
    return found


def refusal(text, **manner):
    with pytest.raises(InputError) as caught:
        read(text, **manner)
    return str(caught.value)


def steps(lts, names=None):
    """Return transitions as a sorted list, internal labels as None."""
    return sorted(
        (s, "" if a in lts.internal else (names or {}).get(a, a), d)
        for s, a, d in lts.transitions()
    )


def round_trip(name, seed, tmp_path):
    dialect = DIALECTS[name]
    rng = random.Random(f"{name} {seed}")
    lts = random_lts(rng, mealy=dialect.mealy, internal=dialect.internal)
    path = tmp_path / f"m{dialect.suffix}"
    path.write_text(dialect.write(lts, rng), encoding="utf-8")
    (found,) = load(path, **dialect.options).components
    names = {f"p{k}": a for k, a in enumerate(lts.labels)} if name == "spot" else {}
    assert steps(found, names) == steps(lts), path.read_text()
    assert (found.n_states, found.initial) == (lts.n_states, lts.initial)


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_written_is_read(name, tmp_path):
    for seed in range(25):
        round_trip(name, seed, tmp_path)


def test_kripke_structures(tmp_path):
    """States offer the propositions of their labels; edges have none."""
    dialect = KRIPKE["kripke"]
    for seed in range(25):
        rng = random.Random(seed)
        lts = random_lts(rng)
        path = tmp_path / "m.hoa"
        path.write_text(dialect.write(lts, rng), encoding="utf-8")
        found = load(path, **dialect.options)
        edges = set(zip(found.src.tolist(), found.dst.tolist(), strict=True))
        assert edges == {(s, d) for s, _, d in lts.transitions()}
        assert found.propositions == lts.labels
        assert (found.n_states, found.initial) == (lts.n_states, lts.initial)


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_much_of_what_is_written_is_read(name, tmp_path):
    for seed in range(25, 1_000):
        round_trip(name, seed, tmp_path)


@pytest.mark.parametrize(
    ("text", "initial"),
    [
        ("s [shape=point]; s -> a; a -> b [label=x]", "a"),
        ("s [style=invis]; s -> b; a -> b [label=x]", "b"),
        ('s [style="filled, invis"]; s -> b; a -> b [label=x]', "b"),
        ('s [shape=none]; a -> b [label=x]; s -> a [label=""]', "a"),
        ("node [shape=point]; s; node [shape=box]; s -> a; a -> b [label=x]", "a"),
        ("{node [shape=point]; s} s -> a; a -> b [label=x]", "a"),
        ("__start0 -> b; a -> b [label=x]", "b"),
        ("a -> b [label=x]; b [initial=true]", "b"),
        ("s [shape=point]; s -> b; b [initial=true]; a -> b [label=x]", "b"),
        ('a [shape=point]; a -> b [label=""]; b -> c [label=""]', "b"),
        ("mclimit=10.0; b [peripheries=2]; a -> b [label=x]", "b"),
        ("node [fontname=Courier] b [fillcolor=magenta] a -> b [label=x]", "b"),
    ],
)
def test_what_marks_the_initial_state(text, initial):
    found = read(f"digraph {{ {text} }}")

    assert found.state_names[found.initial] == initial
    assert "s" not in found.state_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s -> a; a -> b [label=x]", "m.dot:1: component 1 has no start edge"),
        ("s [shape=box] s -> a; a -> b [label=x]", "m.dot:1: component 1 has no start"),
        ("s [shape=point] s -> a; b -> s [label=x]", "m.dot:1: component 1 has no st"),
        ("s [shape=point] s -> a; s -> b [label=x]", "m.dot:1: component 1 has no st"),
        ("b [peripheries=2]; a -> b [label=x]", "m.dot:1: component 1 has no start"),
        ("b [initial=false]; a -> b [label=x]", "m.dot:1: component 1 has no start"),
        ("edge [initial=true] a -> b [label=x]", "m.dot:1: the attribute initial="),
        ("node [initial=true] a -> b [label=x]", "m.dot:1: the attribute initial="),
        (
            "s [shape=point] t [shape=point] s -> a; t -> b; a -> b [label=x]",
            "m.dot:1: component 1 has several initial states: a, b; ",
        ),
        (
            "a [initial=true] b [initial=true] a -> b [label=x]",
            "m.dot:1: component 1 has several initial states: a, b; ",
        ),
        (
            "s [shape=point] s -> a; b [initial=true]; a -> b [label=x]",
            "m.dot:1: component 1 has several initial states: a, b; ",
        ),
        (
            (
                "node [fontname=Courier] a [fillcolor=magenta] a -> b [label=x] "
                "b [style=dashed]"
            ),
            "m.dot:1: component 1 is drawn by DiVinE up to a distance",
        ),
        (
            (
                "node [fontname=Courier] a [fillcolor=magenta] a -> b [label=x] "
                "b [peripheries=2]"
            ),
            "m.dot:1: component 1 has accepting states",
        ),
    ],
)
def test_what_does_not_mark_it(text, expected):
    """Nothing is guessed: not the first node, not the one that is never entered."""
    assert refusal(f"digraph {{ {text} }}").startswith(expected)


def test_the_initial_state_that_the_caller_names():
    text = "digraph { s [shape=point] t [shape=point] s->a t->b a->b [label=x] }"
    named = read(text, initial="b")

    assert named == LTS.from_transitions([(0, "x", 1)], initial=1)
    assert refusal(text, initial="c").startswith("m.dot:1: component 1 has no node 'c'")


@pytest.mark.parametrize(
    "label", ["!a", "a & b", "1", "t", "a\\n{0}"], ids=["not", "and", "1", "t", "mark"]
)
def test_conditions_drawn_by_spot_are_no_actions(label):
    text = (
        'digraph "" { rankdir=LR I [label="", style=invis, width=0] I -> 0\n'
        f'0 -> 0 [label="{label}"] }}'
    )

    assert "drawn by Spot" in refusal(text)
    assert refusal(text, initial="0") == refusal(text)
    plain = text.replace(f'"{label}"', '"a"')
    assert read(plain).labels == ("a",)
    accepting = plain.replace("rankdir=LR", 'label="Inf(0)\\n[Büchi]"')
    assert "drawn by Spot" in refusal(accepting)


def test_drawings_by_spot_itself():
    """Conditions and acceptance are refused, as Spot draws them; true is no action."""
    for formula in ("G F a", "G a", "F G a | G F b", "a U b", "1"):
        for options in ("", "A", "b", "n", "k"):
            drawn = spot.translate(formula).to_str("dot", options)
            if formula == "G a" and options != "k":
                assert read(drawn).labels == ("a",)
            elif options == "k" and "->" in drawn:
                assert refusal(drawn).startswith("m.dot:")
            else:
                assert "drawn by Spot" in refusal(drawn)


def test_blanks_around_labels_have_no_meaning():
    found = read('digraph { 0->1 [label=""]; 1->1 [label=" a "]; 1->1 [label="a "]; }')

    assert found.labels == ("a",)


def test_names_of_digits_and_underscores():
    found = read(
        "digraph { s [shape=point] s -> 0_0 0_0 -> 0_1 [label=x] 1a -> 0_0 [label=y]}"
    )

    assert found.state_names == ("0_0", "0_1", "1a")


def test_labels_in_html():
    html = "<<b>a</b> &lt;<i>1</i>>"
    text = f"digraph {{ 0 -> 1 [label=<>] 1 -> 2 [label={html}, color=red] }}"

    assert read(text).labels == ("a < 1",)


def test_tau_of_mcrl2_is_internal_and_other_tools_have_an_action():
    text = "digraph { s [shape=point] s -> a a -> a [label=tau] }"

    assert read(text).internal == frozenset()
    assert read(text.replace("{", "{ mclimit=10.0;", 1)).internal == {"tau"}


def test_an_input_and_its_output():
    joined = read(MACHINE, mealy="joined")
    whole = read(MACHINE)

    assert whole.labels == ("coin / ok", "tea / cup", "coin / back")
    assert joined.labels == ("coin/ok", "tea/cup", "coin/back")
    assert (joined.src.tolist(), joined.dst.tolist()) == ([0, 1, 1], [1, 0, 1])


def test_an_output_is_a_step_of_its_own():
    found = read(MACHINE, mealy="steps")
    names = found.state_names

    assert found.labels == ("coin", "ok", "tea", "cup", "back")
    assert {(names[s], a, names[d]) for s, a, d in found.transitions()} == {
        ("s0", "coin", "ok -> s1"),
        ("ok -> s1", "ok", "s1"),
        ("s1", "tea", "cup -> s0"),
        ("cup -> s0", "cup", "s0"),
        ("s1", "coin", "back -> s1"),
        ("back -> s1", "back", "s1"),
    }


@pytest.mark.parametrize("label", ["coin", "a / b / c", "a/b/c", "a / ", "/ b"])
@pytest.mark.parametrize("mealy", ["joined", "steps"])
def test_labels_of_no_mealy_machine(label, mealy):
    text = MACHINE.replace("tea / cup", label)

    assert refusal(text, mealy=mealy).startswith("m.dot:4: the label")


def words(lts, n):
    """Return the words of n labels that a component has."""
    found = {(lts.initial, ())}
    for _ in range(n):
        found = {
            (d, (*word, a))
            for state, word in found
            for s, a, d in lts.transitions()
            if s == state
        }
    return {word for _, word in found}


def test_words_of_machines():
    """Two steps for one, whatever the machine is."""
    for seed in range(60):
        rng = random.Random(seed)
        lts = random_lts(rng, mealy=True)
        text = learnlib(lts, rng)
        expected = words(lts, 3)
        pairs = {tuple(p for a in word for p in a.split(" / ")) for word in expected}
        assert words(read(text, mealy="steps"), 6) == pairs
        joined = {tuple(a.replace(" / ", "/") for a in word) for word in expected}
        assert words(read(text, mealy="joined"), 3) == joined
