"""Why a formula is interruptible, or why not: the lines of ``analyze --explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata import classification
from ltlpipe.logic.classes import CLASSES, derivation, syntactic_class
from ltlpipe.logic.erasable import erasure
from ltlpipe.logic.formulas import Formula, from_spot_text, spot_text
from ltlpipe.logic.interruptible import witness
from ltlpipe.runtime import workers
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job


def explanation(formula: Formula) -> Job[list[str]]:
    """Explain why a formula is interruptible or not, in lines."""
    text, parsed = formula.text, spot_text(formula.spot)
    lines: list[str] = yield from workers.call(
        "explain", phase="explaining", text=text, formula=parsed
    )
    return lines


def explained(text: str, formula: str) -> list[str]:
    """Do the work of `explanation`."""
    return list(explain(Formula(text, from_spot_text(formula))))


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
