"""Random formulas over actions: sets as challenges have them, interruptible ones.

Sets resemble those of the parallel problems of the RERS challenge: most formulas are
instances of specification patterns (``formulas/patterns.ltl``) and of their neighbours
with X, some are random.  The templates are our own.

Interruptible formulas are made by the rules of S. F. Siegel and Y. Yan,
"Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020, Prop. 5;
differences from the source: W and -> stand where they follow from the rules.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    """Return a random formula that is interruptible by Prop. 5.

    Parameters
    ----------
    actions : sequence of str
        What it may name, at least one.
    seed : int
        Decides all of it.
    depth : int
        How deeply the rules are nested, at least 0.
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
