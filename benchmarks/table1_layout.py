"""A comparison laid out as Schwoon & Esparza 2005, Table 1.

Source: S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
Algorithms", TACAS 2005, LNCS 3440, pp. 174-190, Sec. 7 and Table 1.

Three sections: what the nested searches did where there is an accepting cycle,
what the SCC-based searches did there, and what all did where there is none.
``st`` are distinct states, ``tr`` transitions generated (each as often as it
was), ``dp`` is the maximal depth of the call stack, ``|Roots|`` and
``|Current|`` are the maximal sizes of the explicit stacks.

Differences from the source: algorithms that it does not have are appended in
the form of the others; ``Couv`` is the algorithm of its Fig. 5, which removes an
SCC by a second traversal, and `couvreur99`, which does not, has columns of its
own.  ``st`` and ``dp``, which the SCC-based algorithms have in common in the
source, show a range if they differ here.  ``states`` and ``trans`` in the first
two sections are the size of the whole product, which the frame has from a complete
exploration or a complete search of it; what is not known is a dash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.batch.table import from_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from ltlpipe.batch.table import Row

LABELS = {
    "hpy96": "HPY",
    "gmz04": "GMZ",
    "se05": "New",
    "couvreur99-fig5": "Couv",
    "gv04": "GV",
}
"""What the paper calls its algorithms; their columns are always there."""

ROOTS = ("couvreur99-fig5", "couvreur99")
CURRENT = ("gv04", "tarjan72")

EARLY = (*ROOTS, "gv04")
"""The searches that stop as soon as a cycle is known: they visit the same states."""

DASH = "-"


@dataclass(frozen=True)
class Section:
    """One part of a table: columns in groups, one line of cells per formula.

    Parameters
    ----------
    title : str
        Stands above the columns that belong to no algorithm.
    groups : list of (str, list of str)
        The titles of groups of columns, "" where there is none, and of the
        columns in each.
    lines : list of list of str
        As many cells as there are columns.
    """

    title: str
    groups: list[tuple[str, list[str]]]
    lines: list[list[str]] = field(default_factory=list)

    def render(self) -> str:
        """Return the section as text: the first column to the left, numbers right."""
        if not self.lines:
            return f"{self.title}: none"
        heads = [name for _, names in self.groups for name in names]
        widths = [
            max(map(len, cells)) for cells in zip(heads, *self.lines, strict=True)
        ]
        first, spans = self._spans(widths)
        above = self.title.ljust(first)
        for (label, _), span in zip(self.groups[1:], spans, strict=True):
            above += "   " + label.center(span)
        return "\n".join(
            [above.rstrip(), *(self._line(c, widths) for c in (heads, *self.lines))]
        )

    def _spans(self, widths: list[int]) -> tuple[int, list[int]]:
        """Return the widths of the groups; columns grow to make room for titles."""
        spans, at = [], 0
        for k, (label, names) in enumerate(self.groups):
            width = sum(widths[at : at + len(names)]) + 2 * (len(names) - 1)
            lacking = max(0, len(label if k else self.title) - width)
            for unit in range(lacking):
                widths[at + (unit % len(names) if k else 0)] += 1
            spans.append(width + lacking)
            at += len(names)
        return spans[0], spans[1:]

    def _line(self, cells: list[str], widths: list[int]) -> str:
        parts, at = [], 0
        for _, names in self.groups:
            end = at + len(names)
            parts.append(
                "  ".join(
                    cell.ljust(width) if k == 0 else cell.rjust(width)
                    for k, (cell, width) in enumerate(
                        zip(cells[at:end], widths[at:end], strict=True), start=at
                    )
                )
            )
            at = end
        return "   ".join(parts).rstrip()


class _Product:
    """The rows of one table: one system, one kind of automata, one order."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.by_formula: dict[str, list[Row]] = {}
        for row in rows:
            self.by_formula.setdefault(_name(row), []).append(row)
        self.ran = list(dict.fromkeys(row["emptiness"] for row in rows))

    def formulas(self, verdict: str) -> list[str]:
        """Return the formulas for which some row has this verdict."""
        return _once(_name(row) for row in self.rows if row["verdict"] == verdict)

    def unanswered(self) -> list[str]:
        """Return the formulas that no row answers."""
        answered = {*self.formulas("violated"), *self.formulas("holds")}
        return [name for name in self.by_formula if name not in answered]

    def column(
        self, formula: str, verdict: str, column: str, names: Iterable[str]
    ) -> list[int]:
        """Return what is known of a column for these algorithms."""
        chosen = set(names)
        return [
            int(row[column])
            for row in self.by_formula[formula]
            if row["verdict"] == verdict
            and row["emptiness"] in chosen
            and row.get(column) is not None
        ]

    def weak(self, formula: str) -> str:
        """Return "yes" or "no" where it is known."""
        rows = self.by_formula[formula]
        known = {bool(row["weak"]) for row in rows if row["weak"] is not None}
        return "/".join("yes" if weak else "no" for weak in sorted(known)) or DASH

    def totals(self, formula: str) -> list[str]:
        """Return the states and transitions of the whole product."""
        rows = self.by_formula[formula]
        states, transitions = (
            [int(row[c]) for row in rows if row.get(c) is not None]
            for c in ("product_states", "product_transitions")
        )
        complete = self.column(formula, "holds", "states", self.ran)
        looks = self.column(formula, "holds", "transitions", self.ran)
        # A complete search generates every transition at least once.
        least = [min(looks)] if looks else []
        return [_range(states or complete), _range(transitions or least)]


def table1(frame: pd.DataFrame) -> str:
    """Return a comparison as text, laid out as Table 1.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.compare` returned, or several of those on top of each
        other.  Every system has a table of its own, and so has every kind of
        automata and every seed.
    """
    groups: dict[tuple[str, str | None, int | None], list[Row]] = {}
    for row in from_frame(frame):
        seed = row.get("seed")
        key = (row["system"], row.get("automaton"), None if seed is None else int(seed))
        groups.setdefault(key, []).append(row)
    tables = []
    for (system, automaton, seed), rows in groups.items():
        about = system + (f", {automaton}" if automaton else "")
        about += "" if seed is None else f", seed {seed}"
        tables.append("\n\n".join([about, *_parts(_Product(rows))]))
    return "\n\n\n".join(tables) if tables else "no rows"


def sections(product: _Product) -> list[Section]:
    """Return the three sections of a table."""
    return [_nested(product), _components(product), _without(product)]


def _parts(product: _Product) -> list[str]:
    parts = [section.render() for section in sections(product)]
    unanswered = product.unanswered()
    if unanswered:
        parts.append("no verdict: " + ", ".join(unanswered))
    named = [f"{label} = {name}" for name, label in LABELS.items()]
    parts.append(", ".join(named))
    return parts


def _columns(product: _Product, kind: Iterable[str]) -> list[str]:
    """Return the paper's algorithms out of a kind, and those that were run."""
    return [name for name in kind if name in LABELS or name in product.ran]


def _nested_names(product: _Product) -> list[str]:
    """Return whatever is not SCC-based, those of the paper first."""
    others = [name for name in product.ran if name not in (*ROOTS, *CURRENT, *LABELS)]
    return [*_columns(product, ("hpy96", "gmz04", "se05")), *others]


def _nested(product: _Product) -> Section:
    names = _nested_names(product)
    section = Section(
        "Ex. w/ cycles (nested)",
        [
            ("", ["ϕ", "weak", "states", "trans"]),
            *((LABELS.get(name, name), ["st", "tr", "dp"]) for name in names),
        ],
    )
    for formula in product.formulas("violated"):
        cells = [formula, product.weak(formula), *product.totals(formula)]
        for name in names:
            cells += [
                _range(product.column(formula, "violated", column, [name]))
                for column in ("states", "transitions", "max_depth")
            ]
        section.lines.append(cells)
    return section


def _components(product: _Product) -> Section:
    names = _columns(product, EARLY)
    others = _columns(product, ("tarjan72",))
    section = Section(
        "Ex. w/ cycles (SCC)",
        [
            ("", ["ϕ", "weak", "states", "trans"]),
            ("/".join(LABELS.get(name, name) for name in names), ["st", "dp"]),
            *((LABELS.get(name, name), ["tr", _stack_of(name)[0]]) for name in names),
            *((name, ["st", "dp", "tr", _stack_of(name)[0]]) for name in others),
        ],
    )
    for formula in product.formulas("violated"):

        def known(column: str, of: list[str], formula: str = formula) -> str:
            return _range(product.column(formula, "violated", column, of))

        cells = [formula, product.weak(formula), *product.totals(formula)]
        cells += [known(column, names) for column in ("states", "max_depth")]
        for name in names:
            cells.append(known("transitions", [name]))
            cells.append(known(_stack_of(name)[1], [name]))
        for name in others:
            for column in ("states", "max_depth", "transitions", _stack_of(name)[1]):
                cells.append(known(column, [name]))
        section.lines.append(cells)
    return section


def _without(product: _Product) -> Section:
    names = [*_nested_names(product), *_columns(product, (*ROOTS, *CURRENT))]
    section = Section(
        "Ex. w/o cycles",
        [
            ("", ["ϕ", "states", "depth"]),
            ("transitions explored", [LABELS.get(name, name) for name in names]),
            ("stack size", ["|Roots|", "|Current|"]),
        ],
    )
    for formula in product.formulas("holds"):
        cells = [formula]
        cells += [
            _range(product.column(formula, "holds", column, names))
            for column in ("states", "max_depth")
        ]
        cells += [
            _range(product.column(formula, "holds", "transitions", [name]))
            for name in names
        ]
        cells += [
            _range(product.column(formula, "holds", column, kind))
            for column, kind in (("max_roots", ROOTS), ("max_current", CURRENT))
        ]
        section.lines.append(cells)
    return section


def _stack_of(name: str) -> tuple[str, str]:
    """Return the title and the column of an algorithm's explicit stack."""
    if name in ROOTS:
        return "|Roots|", "max_roots"
    return "|Current|", "max_current"


def _name(row: Row) -> str:
    return row.get("formula_id") or "no accepting run"


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _range(values: list[int]) -> str:
    """Return the one value, or the lowest and the highest."""
    if not values:
        return DASH
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}..{high}"
