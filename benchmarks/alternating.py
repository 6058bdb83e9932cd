"""Alternating Büchi automata of formulas, in HOA.

States are subformulas in negative normal form; all of them are weak.

Source: M. Y. Vardi, "An automata-theoretic approach to linear temporal logic", 1996,
Theorem 22.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import spot

Step: TypeAlias = tuple[str, frozenset[Any]]
"""A condition, and the formulas that have to hold at the next step."""

_NOW: Step = ("t", frozenset())


def alternating(formula: Any) -> str:
    """Return the text of the automaton of a formula of Spot."""
    start = spot.negative_normal_form(spot.unabbreviate(formula, "FGMW^ei"))
    names = sorted(str(ap) for ap in spot.atomic_prop_collect(start))
    numbers = {start: 0}
    states = [start]
    lines = []
    for number, state in enumerate(states):  # it grows
        lines.append(f"State: {number}{'' if state.kindstr() == 'U' else ' {0}'}")
        for condition, targets in _steps(state, names):
            for target in sorted(targets, key=str):
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
            there = "&".join(str(numbers[target]) for target in targets)
            lines.append(f"[{condition}] {there or 'DONE'}")
    n = len(states)
    lines += [f"State: {n} {{0}}", f"[t] {n}"]
    head = f"HOA: v1\nStates: {n + 1}\nStart: 0\nAP: {len(names)} "
    head += " ".join(f'"{name}"' for name in names)
    body = "\n".join(lines).replace("DONE", str(n))
    return f"{head}\nAcceptance: 1 Inf(0)\n--BODY--\n{body}\n--END--\n"


def _steps(state: Any, names: list[str]) -> list[Step]:
    """Return the steps of a state: conditions, and where they lead at once."""
    kind = state.kindstr()
    if kind in ("tt", "ff"):
        return [_NOW] if kind == "tt" else []
    if kind in ("ap", "Not"):
        sign, proposition = ("", state) if kind == "ap" else ("!", state[0])
        return [(f"{sign}{names.index(str(proposition))}", frozenset())]
    if kind == "X":
        return [("t", frozenset([state[0]]))]
    if kind == "Or":
        return [step for part in state for step in _steps(part, names)]
    if kind == "And":
        found = [_NOW]
        for part in state:
            found = _both(found, _steps(part, names))
        return found
    left, right = (_steps(part, names) for part in state)
    again = [("t", frozenset([state]))]
    return right + _both(left, again) if kind == "U" else _both(right, left + again)


def _both(some: list[Step], others: list[Step]) -> list[Step]:
    """Return the steps that are one of each."""
    return [(f"({a})&({b})", s | t) for a, s in some for b, t in others]
