"""Boolean parts of a formula about states made propositions of their own.

A formula with many comparisons under few temporal operators is one over few
propositions: its largest parts without temporal operators.  Letters are sets of
propositions, of which there are exponentially many; a part costs one, whatever the
number of comparisons in it.

Comparisons of states can be joined by any Boolean operator.  What is said of steps
(``action=="a"``) is joined only to a disjunction of actions, or to its negation, and
never with what is said of states, since the two are evaluated apart.

Whatever is shown to people is over the comparisons as they were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.formulas import fold, rebuilt
from ltlpipe.logic.propositions.syntax import Expression, Operation
from ltlpipe.logic.spot_graphs import relabelled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST_NAMED = 8
"""Propositions of a formula that may each be a bit of its letters."""

_MOST_DOUBLED = 10
"""Equivalences, whose operands Spot would write twice, in what it simplifies."""

_LARGEST, _DEEPEST = 20_000, 60
"""Operators and propositions of an expression, and how deep they are nested."""


class _Part(NamedTuple):
    """A part without temporal operators; one about steps may be the negation."""

    said: Expression  # without that
    of_steps: bool
    negated: bool = False
    size: int = 1
    depth: int = 1

    def negation(self) -> _Part:
        """Return the opposite."""
        if self.of_steps:
            return self._replace(negated=not self.negated)
        return self._replace(said=Operation("!", (self.said,)))


def folded(
    formula: Any, said: Mapping[str, Expression], of_steps: Collection[str]
) -> tuple[Any, dict[str, Expression]]:
    """Return a formula whose largest parts without temporal operators are propositions.

    If these are many still, temporal operators are joined where that is simple.

    Parameters
    ----------
    formula : spot.formula
        A formula of LTL.
    said : dict of str to Expression
        What the propositions say that may become part of others.
    of_steps : collection of str
        Those that are about steps.

    Returns
    -------
    tuple of spot.formula and dict of str to Expression
        The formula, and what the propositions say that are new.

    Raises
    ------
    UnsupportedError
        An operator of PSL.
    """
    import spot

    folding = _Folding(said, of_steps)
    whole = folding.folded(formula)
    many = len(spot.atomic_prop_collect(whole) or ()) > MOST_NAMED
    if many and folding.n_doubled <= _MOST_DOUBLED:
        # Temporal operators are joined, too: G a & G b becomes G(a & b).
        basic = spot.tl_simplifier_options(True, False, False)
        whole = folding.folded(spot.tl_simplifier(basic).simplify(whole))
    return whole, folding.new


def with_constants(formula: Any, values: Mapping[str, bool]) -> Any:
    """Return a formula of Spot in which some propositions are replaced by constants.

    Raises
    ------
    UnsupportedError
        An operator of PSL.
    """
    import spot

    fold(formula, lambda *_: None)  # which refuses PSL
    constants = spot.formula_ff(), spot.formula_tt()
    return relabelled(formula, {name: constants[v] for name, v in values.items()})


def renamed(formula: Any, names: Mapping[str, str]) -> str:
    """Return the text of a formula of Spot with other names for its propositions."""
    import spot

    meaning = {name: spot.formula_ap(new) for name, new in names.items()}
    return str(relabelled(formula, meaning))


class _Folding:
    """The folding of one formula."""

    def __init__(
        self, said: Mapping[str, Expression], of_steps: Collection[str]
    ) -> None:
        self._said, self._of_steps = dict(said), set(of_steps)
        self._texts = {expression: text for text, expression in said.items()}
        self.new: dict[str, Expression] = {}
        self.n_doubled = 0  # equivalences and their negations, not folded

    def folded(self, formula: Any) -> Any:
        return self._formula(fold(formula, self._combined))

    def _combined(self, node: Any, kind: str, below: list[Any]) -> Any:
        if kind == "ap" and node.ap_name() in self._said:
            name = node.ap_name()
            return _Part(self._said[name], name in self._of_steps)
        if kind in ("And", "Or"):
            return self._joined(kind, below)
        if below and all(isinstance(part, _Part) for part in below):
            if kind == "Not":
                return below[0].negation()
            if kind == "Implies":
                return self._joined("Or", [below[0].negation(), below[1]])
            if kind in ("Equiv", "Xor") and not any(part.of_steps for part in below):
                truths = tuple(part.negation().said for part in below)
                same = _sized(Operation("==", truths), below)
                if same is not None:
                    return same if kind == "Equiv" else same.negation()
        self.n_doubled += kind in ("Equiv", "Xor")
        return rebuilt(kind, list(map(self._formula, below))) if below else node

    def _joined(self, kind: str, below: list[Any]) -> Any:
        """Join the operands about states, and those about steps, of And or Or."""
        parts = [part for part in below if isinstance(part, _Part)]
        states = [part for part in parts if not part.of_steps]
        steps = [p for p in parts if p.of_steps and p.negated == (kind == "And")]
        apart = {id(part) for part in (*states, *steps)}
        others = [part for part in below if id(part) not in apart]
        # A conjunction of negations about steps is the negation of a disjunction.
        sign = "&&" if kind == "And" else "||"
        for own, operator in (states, sign), (steps, "||"):
            joined = _sized(_flat(operator, own), own) if len(own) > 1 else None
            others += own if joined is None else [joined]
        if len(others) == 1:
            return others[0]
        return rebuilt(kind, list(map(self._formula, others)))

    def _formula(self, part: Any) -> Any:
        """Return a part as a formula, with a proposition for what has been joined."""
        import spot

        if not isinstance(part, _Part):
            return part
        said, negated = part.said, part.negated
        if isinstance(said, Operation) and said.operator == "!":
            (said,), negated = said.operands, True
        text = self._texts.get(said)
        if text is None:
            text = self._texts[said] = str(said)
            self.new[text] = self._said[text] = said
            if part.of_steps:
                self._of_steps.add(text)
        proposition = spot.formula_ap(text)
        return spot.formula_Not(proposition) if negated else proposition


def _flat(operator: str, parts: Sequence[_Part]) -> Expression:
    """Return what parts say with an operator between them, each operand once."""
    operands: dict[Expression, None] = {}
    for said in (part.said for part in parts):
        is_same = isinstance(said, Operation) and said.operator == operator
        operands.update(dict.fromkeys(said.operands if is_same else (said,)))  # type: ignore[union-attr]
    first, *others = operands
    return Operation(operator, (first, *others)) if others else first


def _sized(said: Expression, parts: Sequence[_Part]) -> _Part | None:
    """Return some parts as one; None if that is too large."""
    size = 1 + sum(part.size for part in parts)
    depth = 1 + max(part.depth for part in parts)
    if size > _LARGEST or depth > _DEEPEST:
        return None
    return _Part(said, parts[0].of_steps, parts[0].negated, size, depth)
