"""Formulas judged on words directly: of actions that repeat themselves, or finite.

An infinite word is a prefix followed by a cycle for ever.  Formulas are evaluated by
the definition of LTL, position by position and with fixpoints, so that nothing here
depends on automata or on Spot beyond the formula's tree.

A subformula is one Python integer whose bits say at which positions it holds.

LTL over finite words (LTLf): X says that there is no next step, or that the formula
holds there; ``X[!]`` that there is one where it holds; U, F and M ask for a step of the
word, G, R and W for nothing behind it.

Source of these: G. De Giacomo and M. Y. Vardi, "Linear Temporal Logic and Linear
Dynamic Logic on Finite Traces", IJCAI 2013, pp. 854-860.

Differences from the source: formulas may look back (`ltlpipe.logic.history`).  As
there words have a letter at least: Spot simplifies ``F 1`` to ``1``, which the empty
word would tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.formulas import fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.history import History


@dataclass(frozen=True)
class Word:
    """The infinite word ``prefix cycle cycle ...`` of actions; `cycle` has some."""

    prefix: tuple[str, ...]
    cycle: tuple[str, ...]

    def __str__(self) -> str:
        """Return ``a b (c d)*`` with omega for the star."""
        return " ".join([*self.prefix, "(" + " ".join(self.cycle) + ")ω"])


def interrupt_free(word: Word, visible: Collection[str]) -> Word:
    """Return the word without the invisible actions that something visible follows.

    It has the visible actions of `word` in their order and, if those are
    finitely many, the invisible action that `word` repeats behind them.

    Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic,
    Automata, and Reduction", CAV 2020, Sec. 3.1, Lemma 2.
    """
    prefix = tuple(a for a in word.prefix if a in visible)
    cycle = tuple(a for a in word.cycle if a in visible)
    return Word(prefix, cycle or word.cycle[:1])


def other_action(actions: Collection[str]) -> str:
    """Return a name for an action that is none of `actions`."""
    name = "other"
    while name in actions:
        name += "_"
    return name


class Shape(NamedTuple):
    """The lengths of a word; position i is bit i of an integer."""

    prefix: int  # positions before the cycle
    cycle: int  # and in it; 0 in a finite word

    @property
    def everywhere(self) -> int:
        """All positions."""
        return (1 << self.prefix + self.cycle) - 1

    def next(self, values: int) -> int:
        """Return where there is a next position at which a formula holds."""
        if not self.cycle:
            return values >> 1
        first = values >> self.prefix & 1  # what the last position leads to
        return values >> 1 | first << self.prefix + self.cycle - 1


def places(letters: Sequence[Iterable[str]]) -> dict[str, int]:
    """Return for each name where it stands among the letters of a word."""
    digits: dict[str, bytearray] = {}
    for place, names in enumerate(letters):
        for name in names:
            own = digits.setdefault(name, bytearray(b"0") * len(letters))
            own[~place] = ord("1")  # the highest place is the first digit
    return {name: int(own, 2) for name, own in digits.items()}


def evaluate(formula: Any, shape: Shape, where: Mapping[str, int]) -> int:
    """Return at which positions of a word a formula without a past holds.

    `where` has the positions of each action; one that is missing stands nowhere.
    """
    return evaluated(formula, shape, where)[formula.id()]


def evaluated(formula: Any, shape: Shape, where: Mapping[str, int]) -> dict[int, int]:
    """Return the same of all subformulas, by Spot's numbers of these."""
    found: dict[int, int] = {}
    full, following = shape.everywhere, shape.next

    def least(hold: int, keep: int) -> int:
        """Return the least x = hold | (keep & X x)."""
        reached = hold
        while True:
            more = reached | keep & following(reached)
            if more == reached:
                return reached
            reached = more

    def until(left: int, right: int) -> int:
        return least(right, left)

    def release(left: int, right: int) -> int:
        return full ^ least(full ^ right, full ^ left)

    def combine(node: Any, kind: str, below: list[int]) -> int:
        if kind == "ap":
            return where.get(node.ap_name(), 0)
        if kind in ("tt", "ff"):
            return full if kind == "tt" else 0
        first = below[0]
        if kind == "Not":
            return full ^ first
        if kind == "X":
            is_weak = not shape.cycle and node.kindstr() == "X"
            return following(first) | (full ^ full >> 1 if is_weak else 0)
        if kind == "F":
            return until(full, first)
        if kind == "G":
            return release(0, first)
        if kind in ("And", "Or"):
            for value in below[1:]:
                first = first & value if kind == "And" else first | value
            return first
        second = below[1]
        return {
            "Implies": lambda: full ^ first | second,
            "Equiv": lambda: full ^ first ^ second,
            "Xor": lambda: first ^ second,
            "U": lambda: until(first, second),
            "R": lambda: release(first, second),
            "W": lambda: release(second, first | second),
            "M": lambda: until(second, first & second),
        }[kind]()

    def recorded(node: Any, kind: str, below: list[int]) -> int:
        value = found[node.id()] = combine(node, kind, below)
        return value

    fold(formula, recorded)
    return found


def satisfies(formula: Any, word: Word) -> bool:
    """Whether a word of actions satisfies a formula of LTL.

    A proposition holds where the action of this name happens.
    """
    shape = Shape(len(word.prefix), len(word.cycle))
    where = places([{name} for name in (*word.prefix, *word.cycle)])
    return bool(evaluate(formula, shape, where) & 1)


def holds(formula: Formula, word: Sequence[Collection[str]]) -> bool:
    """Whether a finite word satisfies a formula of finite words.

    Raises
    ------
    ValueError
        The word is empty.

    Examples
    --------
    >>> from ltlpipe.logic.formulas import parse
    >>> strong = parse("G(a -> X[!] b)", finite=True)
    >>> holds(strong, ["a", "b"]), holds(strong, ["a", "b", "a"])
    (True, False)
    """
    if not word:
        raise ValueError("an empty word")
    return bool(_value(formula, Shape(len(word), 0), word) & 1)


def _value(formula: Formula, shape: Shape, word: Sequence[Collection[str]]) -> int:
    """Return where a formula, which may look back, holds in a word."""
    where = places(word)
    for each in formula.history:
        operands = [evaluate(tree, shape, where) for tree in each.operands]
        where[each.name] = _remembered(each, operands, len(word))
    return evaluate(formula.spot, shape, where)


def _remembered(history: History, operands: list[int], n: int) -> int:
    """Return where a past subformula holds, among n positions."""
    if history.operator == "Y":
        return operands[0] << 1 & (1 << n) - 1
    kept, found = operands
    value = held = 0
    for k in range(n):
        held = (found | kept & held) >> k & 1
        value |= held << k
        held = -held  # at all positions
    return value


def holds_on_lasso(
    formula: Formula, word: Sequence[Collection[str]], start: int
) -> bool:
    """Whether an infinite word satisfies a formula, which may look back.

    It goes on at `start` behind its last letter.  A history repeats itself with the
    cycle one round later than its operands do: by then a round either leaves the value
    before it as it is, or forgets it.
    """
    cycle = list(word[start:])
    unrolled = [*word, *cycle * len(formula.history)]
    shape = Shape(len(unrolled) - len(cycle), len(cycle))
    return bool(_value(formula, shape, unrolled) & 1)
