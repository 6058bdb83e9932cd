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
    from collections.abc import Iterator, Sequence

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
_MOST_ACTIONS = 4  # of a template
_RANDOM_SHARE = 0.15
_OTHER_SHARE = 0.2
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = re.compile(
    r"[FGX]+\d*|[UVRWM]|WU|WR|xor|true|false|first_match", re.IGNORECASE
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


def instances(actions: Sequence[str], *, seed: int) -> Iterator[str]:
    """Yield different instances of patterns until there seem to be no more.

    All patterns have their turn, in random order, before one comes again.  They name
    two to four actions, as far as there are so many; the one that is not interruptible
    ("universality") is left out.  The seed decides all of them.

    Raises
    ------
    UnsupportedError
        There are fewer than two actions.
    """
    known = list(dict.fromkeys(actions))
    if len(known) < 2:
        raise UnsupportedError(
            f"{len(known)} actions, expected at least 2 to choose from"
        )
    patterns = [
        pattern
        for pattern in catalogue()
        if 2 <= len(pattern.letters) <= min(_MOST_ACTIONS, len(known))
        and pattern.name != "universality"
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
