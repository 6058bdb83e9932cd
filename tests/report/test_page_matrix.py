"""The matrix of a page: which cells there are, what they say, where they lead."""

from __future__ import annotations

from ltlpipe.batch.results import RESULTS_DTYPES
from ltlpipe.batch.table import to_frame
from ltlpipe.report.page_summary import MOST_FORMULAS, MOST_SYSTEMS, matrix


def table(*rows):
    """Rows of system, formula, place, verdict, and perhaps configuration, reason."""
    columns = ["system", "formula", "formula_id", "verdict", "configuration", "reason"]
    filled = [[*row, *["default", None][len(row) - 4 :]] for row in rows]
    return to_frame(
        [dict(zip(columns, row, strict=True)) for row in filled], RESULTS_DTYPES
    )


def signs(found):
    return {
        line.name: [cell and cell.sign for cell in line.cells] for line in found.lines
    }


def test_formulas_that_systems_share():
    """Are the columns, in their order; folders that all are in are left out."""
    found = matrix(
        table(
            ("m/a.dot", "G b", "f:1", "holds"),
            ("m/a.dot", "F a", "f:2", "violated"),
            ("m/n/b.dot", "F a", "f:9", "unknown"),
        )
    )
    assert found.heads == [("G b", "G b"), ("F a", "F a")]
    assert signs(found) == {"a.dot": ["✓", "✗"], "n/b.dot": [None, "?"]}
    assert [cell.row for cell in found.lines[0].cells] == [0, 1]
    assert found.lines[1].cells[1].title == "F a: unknown"
    assert found.left_out == ""


def test_places():
    """Where each system has formulas of its own, numbers as numbers."""
    rows = [
        (f"problem{s}.dot", f"G a{s}{k}", f"list.txt:{k}", "holds")
        for s in (1, 2)
        for k in (10, 9)
    ]
    found = matrix(table(*rows))
    assert found.heads == [("9", "list.txt:9"), ("10", "list.txt:10")]
    assert [cell.row for cell in found.lines[0].cells] == [1, 0]
    assert found.about == "Columns are the places of formulas in list.txt."


def test_one_place_of_two_formulas():
    """Is no column: its cell would have two questions."""
    found = matrix(
        table(("s", "G a", "f.ltl:1", "holds"), ("s", "G b", "f.ltl:1", "violated"))
    )
    assert [full for _, full in found.heads] == ["G a", "G b"]
    assert [cell.kind for cell in found.lines[0].cells] == ["holds", "violated"]


def test_formulas_are_counted():
    """Where neither formulas nor places would fill the table."""
    rows = [
        (f"s{k}", f"G a{k}_{i}", f"f{k}:{i}", "holds") for k in range(4) for i in (1, 2)
    ]
    found = matrix(table(*rows))
    assert [short for short, _ in found.heads] == ["1", "2"]
    assert "count" in found.about
    assert all(found.lines[k].cells[i] for k in range(4) for i in range(2))


def test_where_configurations_differ():
    """The cell says which say what, and leads to one that differs."""
    found = matrix(
        table(
            ("s", "G a", "f:1", "holds", "p"),
            ("s", "G a", "f:1", "unknown", "q", "timeout"),
            ("s", "G b", "f:2", "violated", "p"),
            ("s", "G b", "f:2", "holds", "q"),
            ("s", "G b", "f:2", "holds", "r"),
            ("s", "G c", "f:3", "holds", "p"),
            ("s", "G c", "f:3", "holds", "q"),
        )
    )
    lost, contrary, same = found.lines[0].cells
    assert (lost.kind, lost.sign, lost.row) == ("holds", "✓?", 1)
    assert lost.title == "G a: holds: p; unknown: q (timeout)"
    assert (contrary.kind, contrary.sign, contrary.row) == ("differ", "≠", 2)
    assert contrary.title == "G b: holds: q, r; violated: p"
    assert (same.kind, same.title) == ("holds", "G c: holds")


def test_a_large_run_is_bounded():
    """And it is said what is left out."""
    n, k = MOST_SYSTEMS + 3, MOST_FORMULAS + 2
    rows = [(f"s{i}", f"G a{j}", f"f:{j}", "holds") for i in range(n) for j in range(k)]
    found = matrix(table(*rows))
    assert (len(found.lines), len(found.heads)) == (MOST_SYSTEMS, MOST_FORMULAS)
    assert f"of {n} systems" in found.left_out
    assert f"of {k} columns" in found.left_out


def test_what_is_no_matrix():
    """Nothing, and a single question; what is missing has a name."""
    assert matrix(table()) is None
    assert matrix(table(("s", "G a", "f:1", "holds"))) is None
    found = matrix(table(("s", None, None, "holds"), ("t", None, "f:1", "holds")))
    assert [full for _, full in found.heads] == ["(no formula)", "f:1"]


def test_names_of_formulas_head_columns():
    """Where formulas have names, and one of each."""
    rows = [
        (system, *asked, "holds")
        for system in "st"
        for asked in [("G a", "safe"), ("F a", "f.ltl:3"), ("F b", "alive")]
    ]
    found = matrix(table(*rows))
    assert [text for _, text in found.heads] == ["safe", "f.ltl:3", "alive"]
    assert found.about == "Columns are formulas, by their names."
