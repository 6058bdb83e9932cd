"""Random formulas over actions: as challenges have them, and interruptible ones.

Sets resemble those of the parallel problems of the RERS challenge: most formulas are
instances of templates, which are our own, some of them with X, and some are random.

Interruptible formulas are made by the rules of S. F. Siegel and Y. Yan,
"Action-Based Model Checking: Logic, Automata, and Reduction", CAV 2020, Prop. 5;
differences from the source: W and -> stand where they follow from the rules.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from ltlpipe.logic.generating import quoted
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

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

_MOST_ACTIONS = 4  # of a template
_RANDOM_SHARE = 0.15
_OTHER_SHARE = 0.2


def random_interruptible(actions: Sequence[str], *, seed: int, depth: int = 3) -> str:
    """Return a random formula over some actions that is interruptible by Prop. 5.

    The seed decides all of it; the rules are nested `depth` times, at least 0.
    """
    names = [quoted(action) for action in actions]
    return _derived("i", names, random.Random(seed), depth)


# The rules of Prop. 5, read from right to left: {i}, {p} and {n} are formulas of the
# classes Intrpt, Pos and Neg, {a} an action.
_RULES = {
    "i": (
        *("({i} & {i})", "({i} | {i})", "({i} -> {i})", "!({i})"),
        *("F({p})", "G({n})", "({i} U {i})", "(({n}) U ({p}))", "(({n}) W ({p}))"),
        *("(({n}) U {i})", "(({n}) W {i})"),
    ),
    "p": (
        *("{a}", "!({n})", "(({p}) & ({p}))", "(({p}) | ({p}))"),
        *("({a} & {i})", "({a} & X {i})"),
    ),
    "n": (
        *("!{a}", "!({p})", "(({n}) & ({n}))", "(({n}) | ({n}))"),
        *("({a} -> {i})", "({a} -> X {i})"),
    ),
}
_LEAVES = {"i": ("F {}", "G !{}", "GF {}", "FG !{}"), "p": ("{}",), "n": ("!{}",)}
_PART = re.compile(r"\{([ipna])\}")


def _derived(kind: str, actions: Sequence[str], rng: random.Random, depth: int) -> str:
    """Return a random formula of a class of Prop. 5, over quoted actions."""
    if kind == "a":
        return rng.choice(actions)
    if depth <= 0:
        action, leaves = rng.choice(actions), _LEAVES[kind]
        return (rng.choice(leaves) if len(leaves) > 1 else leaves[0]).format(action)
    rule = rng.choice(_RULES[kind])
    return _PART.sub(lambda part: _derived(part[1], actions, rng, depth - 1), rule)


def formula_set(
    n: int, actions: Sequence[str], *, seed: int = 0, interruptible: bool = False
) -> list[str]:
    """Return n different formulas in the style of RERS problems.

    Each names a few of the actions; the seed decides all of them.  With `interruptible`
    only what is interruptible by its form is taken, otherwise about a quarter is not.

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


def _formula(actions: list[str], rng: random.Random, interruptible: bool) -> str:
    names = [quoted(action) for action in rng.sample(actions, _MOST_ACTIONS)]
    share = rng.random()
    if share < _RANDOM_SHARE:
        if interruptible or rng.random() < 0.5:
            return _derived("i", names[:3], rng, 2)
        return _anything(names[:3], rng, 3)
    templates: tuple[str, ...] = INTERRUPTIBLE_TEMPLATES
    if not interruptible and share < _RANDOM_SHARE + _OTHER_SHARE:
        templates = OTHER_TEMPLATES
    return rng.choice(templates).format(*names)


def _anything(names: list[str], rng: random.Random, depth: int) -> str:
    """Return a random formula of any kind."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["", "!"]) + rng.choice(names)
    if rng.random() < 0.4:
        return f"{rng.choice('FGX')}({_anything(names, rng, depth - 1)})"
    operator = rng.choice(["&", "|", "->", "U", "W", "R", "M"])
    left, right = (_anything(names, rng, depth - 1) for _ in range(2))
    return f"({left} {operator} {right})"
