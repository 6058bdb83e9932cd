"""Random formulas over actions: as challenges have them, patterns, interruptible ones.

Sets resemble those of the parallel problems of the RERS challenge: most formulas are
instances of specification patterns (``formulas/patterns.ltl``) and of their neighbours
with X, some are random.  The templates are our own.

Interruptible formulas are made by the rules of S. F. Siegel and Y. Yan,
"Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020, Prop. 5;
differences from the source: W and -> stand where they follow from the rules.

The catalogue of specification patterns is ``formulas/patterns.ltl``, where each formula
stands below a comment with its pattern and its scope, and names actions by the letters
p, q, r, s, t and z.  A wheel has the file beside this module.
"""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INTERRUPTIBLE_TEMPLATES = (
    "G !{0}",
    "F {0}",
    "GF {0}",
    "FG !{0}",
    "G({0} -> F {1})",
    "G({0} -> F({1} | {2}))",
    "G({0} -> (!{1} U {2}))",
    "G({0} -> X(!{0} W {1}))",
    "G({0} -> X(!({1} | {2}) W {3}))",
    "G({0} -> G !{1})",
    "G({0} & F {1} -> (!{2} U {1}))",
    "G(({0} & X F {1}) -> X(!{1} U ({1} & F {2})))",
    "!{0} W {1}",
    "!{0} W ({1} | {2})",
    "F {0} -> (!{0} U {1})",
    "F {0} -> (!{1} U ({0} | {2}))",
    "F {0} -> F({1} & X F {0})",
    "F({0} & X F {1})",
    "!F({0} & X F({0} & X F {0}))",
    "({0} -> F {1}) W {2}",
    "({0} -> F({1} | {2})) W ({1} | {3})",
    "GF {0} -> GF {1}",
    "GF {0} & GF {1} -> GF {2}",
    "GF {0} <-> GF {1}",
    "F(({0} & X F {1}) | (!{2} W {3}))",
    "(!{0} W {1}) | (!{0} W {2})",
    "F {0} | G({1} -> X F {2})",
)
"""Formulas of which every instance is interruptible."""

OTHER_TEMPLATES = (
    "G({0} -> X {1})",
    "G({0} -> X({1} U {2}))",
    "G({0} -> X X !{1})",
    "G(({0} & X {1}) -> X X F {2})",
    "X({0} -> X !{1})",
    "X !{0} & F {1}",
    "{0} W X {1}",
    "F({0} W (X {1} | {2}))",
    "G({0} -> X !{1}) | X X {2}",
)
"""Formulas whose instances are not, for distinct actions."""

_HERE = Path(__file__).resolve()
_PLACES = (
    _HERE.with_name("patterns.ltl"),
    _HERE.parents[2] / "formulas" / "patterns.ltl",
)
_HEADING = re.compile(r"# ([^,]+), (.+)")
_LETTER = re.compile(r"\b[pqrstz]\b")
_MOST_REPEATS = 200  # known formulas in a row, before there seem to be no others
_RANDOM_SHARE = 0.15
_OTHER_SHARE = 0.2
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = re.compile(
    r"[FGX]+\d*|[UVRWM]|WU|xor|true|false|first_match", re.IGNORECASE
)


def quoted(action: str) -> str:
    """Return an action as it can stand in a formula."""
    reserved = action[:1] in "FGX" or _RESERVED.fullmatch(action)
    if _PLAIN.fullmatch(action) and not reserved:
        return action
    return '"' + re.sub(r'(["\\])', r"\\\1", action) + '"'


def random_interruptible(actions: Sequence[str], *, seed: int, depth: int = 3) -> str:
    """Return a random formula over some actions that is interruptible by Prop. 5.

    The seed decides all of it; the rules are nested `depth` times, at least 0.
    """
    return _Grammar(actions, random.Random(seed)).intrpt(depth)


class _Grammar:
    """The rules of Prop. 5, read from right to left."""

    def __init__(self, actions: Sequence[str], rng: random.Random) -> None:
        self._actions = [quoted(action) for action in actions]
        self._rng = rng

    def action(self) -> str:
        return self._rng.choice(self._actions)

    def intrpt(self, depth: int) -> str:
        if depth <= 0:
            a = self.action()
            return self._rng.choice([f"F {a}", f"G !{a}", f"GF {a}", f"FG !{a}"])
        i, p, n = self.intrpt, self.pos, self.neg
        below = depth - 1
        rules: list[Callable[[], str]] = [
            lambda: f"({i(below)} & {i(below)})",
            lambda: f"({i(below)} | {i(below)})",
            lambda: f"({i(below)} -> {i(below)})",
            lambda: f"!({i(below)})",
            lambda: f"F({p(below)})",
            lambda: f"G({n(below)})",
            lambda: f"({i(below)} U {i(below)})",
            lambda: f"(({n(below)}) U ({p(below)}))",
            lambda: f"(({n(below)}) W ({p(below)}))",
            lambda: f"(({n(below)}) U {i(below)})",
            lambda: f"(({n(below)}) W {i(below)})",
        ]
        return self._rng.choice(rules)()

    def pos(self, depth: int) -> str:
        if depth <= 0:
            return self.action()
        i, p, n = self.intrpt, self.pos, self.neg
        below = depth - 1
        rules: list[Callable[[], str]] = [
            lambda: self.action(),
            lambda: f"!({n(below)})",
            lambda: f"(({p(below)}) & ({p(below)}))",
            lambda: f"(({p(below)}) | ({p(below)}))",
            lambda: f"({self.action()} & {i(below)})",
            lambda: f"({self.action()} & X {i(below)})",
        ]
        return self._rng.choice(rules)()

    def neg(self, depth: int) -> str:
        if depth <= 0:
            return f"!{self.action()}"
        i, p, n = self.intrpt, self.pos, self.neg
        below = depth - 1
        rules: list[Callable[[], str]] = [
            lambda: f"!{self.action()}",
            lambda: f"!({p(below)})",
            lambda: f"(({n(below)}) & ({n(below)}))",
            lambda: f"(({n(below)}) | ({n(below)}))",
            lambda: f"({self.action()} -> {i(below)})",
            lambda: f"({self.action()} -> X {i(below)})",
        ]
        return self._rng.choice(rules)()


def formula_set(
    n: int, actions: Sequence[str], *, seed: int = 0, interruptible: bool = False
) -> list[str]:
    """Return n different formulas in the style of RERS problems.

    Parameters
    ----------
    n : int
        How many.
    actions : sequence of str
        What they name; every formula names a few of them.
    seed : int
        Decides all of them.
    interruptible : bool
        Whether to take only what is interruptible by its form; otherwise about
        a quarter is not.

    Raises
    ------
    UnsupportedError
        There are too few actions for so many different formulas.
    """
    known = list(dict.fromkeys(actions))
    if len(known) < _MOST_ACTIONS:
        raise UnsupportedError(
            f"{len(known)} actions, expected at least {_MOST_ACTIONS} to choose from"
        )
    rng = random.Random(seed)
    found: dict[str, None] = {}
    tries = 0
    while len(found) < n:
        tries += 1
        if tries > 50 * (n + 10):
            raise UnsupportedError(
                f"no {n} different formulas over {len(known)} actions; use more actions"
            )
        found[_formula(known, rng, interruptible)] = None
    return list(found)


_MOST_ACTIONS = 4  # of a template


def _formula(actions: list[str], rng: random.Random, interruptible: bool) -> str:
    chosen = rng.sample(actions, _MOST_ACTIONS)
    share = rng.random()
    if share < _RANDOM_SHARE:
        if interruptible or rng.random() < 0.5:
            return _Grammar(chosen[:3], rng).intrpt(2)
        return _anything([quoted(a) for a in chosen[:3]], rng, 3)
    templates: tuple[str, ...] = INTERRUPTIBLE_TEMPLATES
    if not interruptible and share < _RANDOM_SHARE + _OTHER_SHARE:
        templates = OTHER_TEMPLATES
    return rng.choice(templates).format(*map(quoted, chosen))


def _anything(names: list[str], rng: random.Random, depth: int) -> str:
    """Return a random formula of any kind."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["", "!"]) + rng.choice(names)
    if rng.random() < 0.4:
        return f"{rng.choice('FGX')}({_anything(names, rng, depth - 1)})"
    operator = rng.choice(["&", "|", "->", "U", "W", "R", "M"])
    left, right = (_anything(names, rng, depth - 1) for _ in range(2))
    return f"({left} {operator} {right})"


class Pattern(NamedTuple):
    """One pattern in one scope."""

    name: str
    scope: str
    template: str

    @property
    def letters(self) -> tuple[str, ...]:
        """The actions that it names, sorted."""
        return tuple(sorted(set(_LETTER.findall(self.template))))

    def instance(self, actions: Sequence[str]) -> str:
        """Return the formula with actions for the letters, in their order."""
        names = dict(zip(self.letters, map(quoted, actions), strict=True))
        return _LETTER.sub(lambda letter: names[letter[0]], self.template)


@cache
def catalogue() -> tuple[Pattern, ...]:
    """Return all patterns in all scopes, in the order of the file."""
    file = next(place for place in _PLACES if place.is_file())
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(
        Pattern(heading[1], heading[2], line)
        for comment, line in pairwise(lines)
        if (heading := _HEADING.fullmatch(comment)) and not line.startswith("#")
    )


def instances(
    actions: Sequence[str],
    *,
    seed: int,
    n_actions: tuple[int, int] = (2, 4),
    leave_out: Sequence[str] = ("universality",),
) -> Iterator[str]:
    """Yield different instances of patterns until there seem to be no more.

    All patterns have their turn, in random order, before one comes again.  Those to
    leave out are by default the one that is not interruptible.

    Parameters
    ----------
    actions : sequence of str
        What they name.
    seed : int
        Decides all of them.
    n_actions : tuple of int
        Least and greatest number of different actions that a formula names, as far
        as there are so many.
    leave_out : sequence of str
        Patterns that are not used.

    Raises
    ------
    UnsupportedError
        There are fewer actions than a formula names at least.
    """
    least, most = n_actions
    known = list(dict.fromkeys(actions))
    if len(known) < least:
        raise UnsupportedError(
            f"{len(known)} actions, expected at least {least} to choose from"
        )
    patterns = [
        pattern
        for pattern in catalogue()
        if least <= len(pattern.letters) <= min(most, len(known))
        and pattern.name not in leave_out
    ]
    return _instances(patterns, known, random.Random(seed))


def _instances(
    patterns: list[Pattern], actions: list[str], rng: random.Random
) -> Iterator[str]:
    found: set[str] = set()
    repeats = 0
    while repeats < _MOST_REPEATS:
        for pattern in rng.sample(patterns, len(patterns)):
            text = pattern.instance(rng.sample(actions, len(pattern.letters)))
            repeats = 0 if text not in found else repeats + 1
            if text not in found:
                found.add(text)
                yield text
