"""The columns of an analysis: what a worker computes of one formula.

Columns that are computed together are a *group*; groups are in the order of their cost.
`ltlpipe.batch.analyzing` limits the time of each group.

Under action semantics exactly one action happens at a time (`ltlpipe.logic.actions`);
under state semantics propositions are independent of each other, and a step that
changes none of them is a stutter.  So a formula about states is interruptible iff it is
stutter-invariant.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.automata import classification
from ltlpipe.logic.actions import is_ltl
from ltlpipe.logic.classes import CLASSES, derivation, syntactic_class
from ltlpipe.logic.erasable import erasure
from ltlpipe.logic.formulas import Formula, from_spot_text
from ltlpipe.logic.interruptible import interruptible_formula, witness
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.names import counted
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ltlpipe.batch.table import Row

    _Compute = Callable[[Formula, Row], Row]


ACTION, STATE, FINITE = "action", "state", "finite"
"""What propositions are about; finite words are of actions."""

GROUPS = (
    *("syntax", "interruptible", "stutter_invariant", "buchi", "norm_states"),
    *("tgba_states", "hierarchy", "erasable", "generic_states", "parity_states"),
)
"""The groups of columns, cheap and decisive ones first."""

IN_GROUP = {
    "syntax": ("size", "syntactic"),
    "buchi": ("ba_states", "weak", "terminal", "very_weak", "normal_form"),
    "erasable": ("erasable", "erasable_witness"),
}
"""The columns of a group that is not called like its only one."""

_COMPARISON = re.compile(r"[=!<>]=|[<>]|^fireable\(")


def semantics_of(formula: Formula) -> str:
    """Return what the propositions of a formula are about.

    They are about states if one of them is a comparison or ``fireable(...)``: no format
    of networks has such names of actions.
    """
    about_states = any(map(_is_comparison, formula.propositions))
    return STATE if about_states else ACTION


def _is_comparison(proposition: str) -> bool:
    if not _COMPARISON.search(proposition):
        return False
    try:
        parse_proposition(proposition)
    except FormulaError:
        return False
    return True


def groups_of(semantics: str, *, is_plain: bool) -> tuple[Sequence[str], str | None]:
    """Return the groups of a formula, and why it has not all of them.

    `is_plain` says that it is LTL: PSL is beyond what is about actions that do not
    matter, and beyond finite words.
    """
    if is_plain:
        return GROUPS, None
    if semantics == FINITE:
        return ("syntax",), "it is PSL: of finite words only LTL is analysed"
    beyond = ("interruptible", "norm_states", "erasable")
    groups = [group for group in GROUPS if group not in beyond]
    return groups, "it is PSL: only Spot's columns are known"


def parts_of(
    formula: str, semantics: str, groups: Sequence[str], known: Row
) -> Iterator[tuple[Row, str | None]]:
    """Yield the columns of each group for the process that has asked for them.

    Beside them is why there are none, if so.  `known` has the columns of other groups.
    """
    tree = from_spot_text(formula)
    asked, found = Formula(str(tree), tree), dict(known)
    for group in groups:
        columns, note = _attempted(_GROUPS[semantics][group], asked, found)
        found |= columns
        yield columns, note


def columns_of(group: str) -> tuple[str, ...]:
    """Return the columns of a group."""
    return IN_GROUP.get(group, (group,))


def _attempted(
    compute: Callable[[Formula, Row], Row], formula: Formula, known: Row
) -> tuple[Row, str | None]:
    try:
        return compute(formula, known), None
    except UnsupportedError as error:
        return {}, str(error)


# --- one action at a time ---------------------------------------------------


def _syntax(formula: Formula, _known: Row) -> Row:
    classes = syntactic_class(formula.spot) if is_ltl(formula.spot) else ()
    return {
        "size": classification.size(formula.spot),
        "syntactic": next((c for c in CLASSES if c in classes), None),
    }


def _interruptible(formula: Formula, known: Row) -> Row:
    by_syntax = known.get("syntactic") == "intrpt"
    return {"interruptible": by_syntax or interruptible_formula.here(formula)}


def _erasable(formula: Formula, known: Row) -> Row:
    found = None if known.get("interruptible") else erasure(formula)
    if found is None:
        return {"erasable": True}
    return {"erasable": False, "erasable_witness": json.dumps(asdict(found))}


def _buchi(formula: Formula, _known: Row) -> Row:
    table = classification.buchi(formula)
    normal, _ = classification.violation_of_normal_form(table)
    return {
        "ba_states": table.n_states,
        "weak": table.weak,
        "terminal": table.terminal,
        "very_weak": classification.is_very_weak(table),
        "normal_form": normal,
    }


def _norm_states(formula: Formula, known: Row) -> Row:
    """Return the size of the automaton in normal form, if a reduction would use it."""
    if not known.get("interruptible") or known.get("normal_form") is None:
        return {}
    if known["normal_form"]:
        return {"norm_states": known["ba_states"]}
    table = classification.buchi(formula)
    return {"norm_states": classification.n_states_of_norm(table)}


# --- valuations of propositions ---------------------------------------------


def _nothing(_formula: Formula, _known: Row) -> Row:
    return {}  # a notion of actions


def _size(formula: Formula, _known: Row) -> Row:
    return {"size": classification.size(formula.spot)}


def _each(columns: Mapping[str, Callable[[Formula], Any]]) -> dict[str, _Compute]:
    """Return groups of one column each that nothing else has to be known for."""

    def group(name: str, value: Callable[[Formula], Any]) -> _Compute:
        return lambda formula, _: {name: value(formula)}

    return {name: group(name, value) for name, value in columns.items()}


def _groups_of(semantics: str) -> dict[str, _Compute]:
    """Return the computations of the groups."""
    kinds = classification
    if semantics == FINITE:
        finite: dict[str, Callable[[Formula], Any]] = {
            "stutter_invariant": kinds.is_finite_stutter_invariant,
            "hierarchy": kinds.finite_hierarchy,
            "tgba_states": partial(kinds.finite_states, deterministic=False),
            "parity_states": partial(kinds.finite_states, deterministic=True),
        }
        return {**dict.fromkeys(GROUPS, _nothing), "syntax": _size, **_each(finite)}

    def over(formula: Formula) -> Any:
        return kinds.subject(formula, one_at_a_time=semantics == ACTION)

    def states(kind: str) -> Callable[[Formula], Any]:
        return lambda formula: kinds.n_states(over(formula), kind)

    columns: dict[str, Callable[[Formula], Any]] = {
        "stutter_invariant": lambda f: kinds.is_stutter_invariant(over(f)),
        "hierarchy": lambda f: kinds.manna_pnueli(over(f)),
        **{f"{kind}_states": states(kind) for kind in kinds.KINDS},
    }
    if semantics == ACTION:
        return _each(columns) | {
            "syntax": _syntax,
            "interruptible": _interruptible,
            "buchi": _buchi,
            "norm_states": _norm_states,
            "erasable": _erasable,
        }
    columns["interruptible"] = columns["stutter_invariant"]
    return _each(columns) | {
        "syntax": _size,
        "buchi": lambda f, _: kinds.buchi_over_states(f.spot),
        "norm_states": _nothing,
        "erasable": _nothing,
    }


_GROUPS = {each: _groups_of(each) for each in (ACTION, STATE, FINITE)}


# --- what is known without the exact class ----------------------------------


def bounded(formula: Formula, row: Row) -> str | None:
    """Return a class that a formula is in, if its smallest class has not been found.

    By the syntax, and by the Büchi automaton if its columns are known.  None says that
    nothing smaller than all properties is known.
    """
    bound = classification.bound(
        formula.spot, weak=row["weak"], terminal=row["terminal"]
    )
    return None if bound is None else f"at most {bound}"


@remote("explaining")
def explanation(text: str, tree: Any) -> list[str]:
    """Explain why a formula is interruptible or not, in lines."""
    return list(explain(Formula(text, tree)))


def explain(formula: Formula) -> Iterator[str]:
    """Yield the lines that explain why a formula is interruptible or not.

    It can take long, as `is_interruptible`; operators of PSL are refused, and formulas
    too large for Spot.
    """
    yield f"formula: {formula.text}"
    yield f"actions: {', '.join(formula.propositions) or 'none'}"
    if "intrpt" in syntactic_class(formula.spot):
        yield "interruptible: yes, by its syntax (Siegel & Yan 2020, Prop. 5)"
        shown = [(text, _named(classes)) for text, classes in derivation(formula.spot)]
        width = max(len(text) for text, _ in shown)
        yield from (f"  {text:{width}}  {classes}" for text, classes in shown)
    else:
        yield from _explain_by_words(formula)
    yield from _explain_automaton(formula)


def _named(classes: frozenset[str]) -> str:
    return ", ".join(name.capitalize() for name in CLASSES if name in classes) or "-"


def _explain_by_words(formula: Formula) -> Iterator[str]:
    found = witness(formula)
    if found is None:
        yield "interruptible: yes, though no rule of Prop. 5 shows it: no word differs"
        yield "  from its interrupt-free form (Siegel & Yan 2020, Lemma 2, Theorem 1)"
        return
    yield "interruptible: no; two words with the same visible actions:"
    yield f"  satisfies it:  {found.satisfying}"
    yield f"  violates it:   {found.violating}"
    yield f"  visible:       {found.visible(formula.propositions)}"
    yield "  (both evaluated by the definition of LTL, without automata)"
    yield from _explain_erasable(formula)


def _explain_erasable(formula: Formula) -> Iterator[str]:
    found = erasure(formula)
    if found is None:
        yield "erasable: yes; violations survive repeating and deleting other actions"
        return
    yield "erasable: no; two words that differ in how often others happen:"
    yield f"  violates it:   {found.violating}"
    yield f"  satisfies it:  {found.satisfying}"


def _explain_automaton(formula: Formula) -> Iterator[str]:
    table = classification.buchi(formula)
    normal, violation = classification.violation_of_normal_form(table)
    no = "" if normal else "not "
    states = counted(table.n_states, "state")
    yield f"Büchi automaton: {states}, {no}in interrupt normal form"
    if not normal:
        yield f"  {violation}"
