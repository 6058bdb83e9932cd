"""Table 1: which numbers stand where."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.table1_layout import table1
from ltlpipe import LTS, Network, compare, results
from ltlpipe.batch.table import COMPARISON_DTYPES, to_frame

PAPER = ["hpy96", "gmz04", "se05", "couvreur99-fig5", "gv04"]


def rows(formula, verdict, numbers, **columns):
    """Return one row per algorithm from its states, transitions, depth and stack."""
    made = []
    for emptiness, (states, transitions, depth, *stack) in numbers.items():
        kind = "max_current" if emptiness in ("gv04", "tarjan72") else "max_roots"
        made.append(
            {
                "system": "leader.dot",
                "formula_id": formula,
                "formula": f"G {formula}",
                "automaton": "BA",
                "emptiness": emptiness,
                "verdict": verdict,
                "states": states,
                "transitions": transitions,
                "max_depth": depth,
            }
            | ({kind: stack[0]} if stack else {})
            | columns
        )
    return made


def numbers(*values):
    return dict(zip(PAPER, values, strict=True))


# Schwoon & Esparza 2005, Table 1, Variant 1.
B = rows(
    "B",
    "violated",
    numbers(
        (385, 409, 386),
        (371, 392, 372),
        (214, 215, 215),
        (214, 215, 215, 129),
        (214, 215, 215, 214),
    ),
    weak=False,
)
E = rows(
    "E",
    "violated",
    numbers(
        (129, 130, 130),
        (129, 129, 130),
        (129, 129, 130),
        (129, 129, 130, 129),
        (129, 129, 130, 129),
    ),
    weak=True,
)
A = rows(
    "A",
    "holds",
    numbers(
        (13057, 30554, 312),
        (13057, 41600, 312),
        (13057, 30554, 312),
        (13057, 41600, 312, 129),
        (13057, 20800, 312, 4825),
    ),
)


AS_IN_THE_PAPER = """\
leader.dot, BA

Ex. w/ cycles (nested)        HPY             GMZ             New
ϕ  weak  states  trans    st   tr   dp    st   tr   dp    st   tr   dp
B    no       -      -   385  409  386   371  392  372   214  215  215
E   yes       -      -   129  130  130   129  129  130   129  129  130

Ex. w/ cycles (SCC)      Couv/GV        Couv             GV
ϕ  weak  states  trans    st   dp    tr  |Roots|    tr  |Current|
B    no       -      -   214  215   215      129   215        214
E   yes       -      -   129  130   129      129   129        129

Ex. w/o cycles            transitions explored             stack size
ϕ  states  depth     HPY    GMZ    New   Couv     GV   |Roots|  |Current|
A   13057    312   30554  41600  30554  41600  20800       129       4825

HPY = hpy96, GMZ = gmz04, New = se05, Couv = couvreur99-fig5, GV = gv04"""


def printed(made):
    return table1(to_frame(made, COMPARISON_DTYPES))


def cells(text, begin):
    """Return the lines that begin with a word, as lists of cells."""
    lines = [line.split() for line in text.splitlines()]
    return [line for line in lines if line[:1] == [begin]]


def test_as_in_the_paper():
    """Its first lines, number for number; the product's size is not in the frame."""
    text = printed(B + E + A)

    assert text == AS_IN_THE_PAPER


def test_the_size_of_the_product():
    """From a complete search of the same product, or columns that say it."""
    sizes = {"product_states": 16685, "product_transitions": 31405}
    frame = to_frame(B, COMPARISON_DTYPES).assign(**sizes)
    nested, scc = cells(table1(frame), "B")
    assert nested[2:4] == scc[2:4] == ["16685", "31405"]

    wrong = rows("B", "holds", {"dfs-weak": (16685, 31405, 9)})
    nested, scc, complete = cells(printed(B + wrong), "B")
    assert nested[2:4] == scc[2:4] == ["16685", "31405"]
    assert complete[1:3] == ["16685", "9"]


def test_what_was_not_run_is_a_dash():
    """The paper's columns stay."""
    few = [row for row in B + A if row["emptiness"] == "se05"]
    nested, scc = cells(printed(few), "B")
    (complete,) = cells(printed(few), "A")

    dashes = 8 * ["-"]
    assert nested == ["B", "no", "-", "-", *dashes[:6], "214", "215", "215"]
    assert scc == ["B", "no", "-", "-", *dashes[:6]]
    assert complete == ["A", "13057", "312", "-", "-", "30554", *dashes[:4]]


def test_further_algorithms_are_appended():
    """In the form of their kind; only if they were run."""
    more = {
        "cvwy92": (7, 8, 9),
        "dfs-weak": (1, 2, 3),
        "rabin": (4, 5, 6),
        "couvreur99": (214, 216, 215, 77),
        "tarjan72": (214, 217, 215, 88),
    }
    text = printed(
        B
        + rows("B", "violated", more)
        + A
        + rows("A", "holds", {"cvwy92": (13057, 5, 312)})
    )

    nested, scc = cells(text, "B")
    assert " ".join(nested[-12:]) == "214 215 215 7 8 9 1 2 3 4 5 6"
    assert " ".join(scc[4:]) == "214 215 215 129 216 77 215 214 214 215 217 88"
    (complete,) = cells(text, "A")
    others = ["cvwy92", "dfs-weak", "rabin"]
    titles = ["HPY", "GMZ", "New", *others, "Couv", "couvreur99", "GV", "tarjan72"]
    heads = [line.split() for line in text.splitlines() if "depth" in line]
    assert heads == [["ϕ", "states", "depth", *titles, "|Roots|", "|Current|"]]
    assert complete[3 + titles.index("cvwy92")] == "5"
    assert complete[3 + titles.index("rabin")] == "-"
    assert "Couv/couvreur99/GV" in text
    assert "tauriainen03" not in text


def test_numbers_that_are_not_common():
    """Shown as a range: nobody shall take one for all."""
    odd = rows("B", "violated", {"couvreur99": (200, 216, 300, 77)})
    _, scc = cells(printed(B + odd), "B")

    assert scc[4:6] == ["200..214", "215..300"]


def test_unknown_is_in_no_section():
    """Numbers of a search that was cut off would look like those of a whole one."""
    cut = rows("C", "unknown", {"se05": (5, 6, 7)}, reason="timeout")
    some = rows("B", "unknown", {"cvwy92": (5, 6, 7)}, reason="timeout")
    text = printed(B + some + cut)

    assert cells(text, "C") == []
    assert "no verdict: C" in text.splitlines()
    assert cells(text, "B")[0][-3:] == ["-", "-", "-"]
    assert "Ex. w/o cycles: none" in text.splitlines()


@pytest.mark.parametrize(
    ("column", "value", "heading"),
    [
        ("system", "other.dot", "other.dot, BA"),
        ("automaton", "TGBA", "leader.dot, TGBA"),
        ("automaton", None, "leader.dot"),
        ("seed", 3, "leader.dot, BA, seed 3"),
    ],
)
def test_a_table_for_each_product(column, value, heading):
    """Systems, automata and orders are not mixed."""
    text = printed(B + [row | {column: value} for row in B])

    first, second = text.split("\n\n\n")
    assert first == printed(B)
    assert second.splitlines()[0] == heading
    assert second.splitlines()[1:] == first.splitlines()[1:]


def test_a_question_without_formula():
    """Has a name of its own."""
    (line,) = [
        line
        for line in printed(rows(None, "holds", {"se05": (1, 2, 3)})).splitlines()
        if line.startswith("no accepting run ")
    ]
    assert line.split()[3:6] == ["1", "3", "-"]


def test_no_rows():
    """Nothing to lay out."""
    assert printed([]) == "no rows"


@pytest.mark.parametrize("form", ["frame", "csv", "plain csv"])
def test_of_a_comparison(form, tmp_path):
    """What `compare` returns, be it from a file, even read without types."""
    ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring")
    frame = compare(ring, ["G a", "F a"], emptiness=["se05", "couvreur99"])
    expected = table1(frame)
    if form != "frame":
        frame.to_csv(tmp_path / "r.csv", index=False)
        path = tmp_path / "r.csv"
        frame = results(path) if form == "csv" else pd.read_csv(path)

    assert table1(frame) == expected
    nested, scc, complete = (
        line.split() for line in expected.splitlines() if line[:3] in ("G a", "F a")
    )
    assert nested[-3:] == [
        str(n) for n in frame.loc[0, ["states", "transitions", "max_depth"]]
    ]
    assert scc[:2] == ["G", "a"]
    assert str(frame["states"][2]) == complete[2]
