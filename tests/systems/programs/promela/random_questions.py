"""Random formulas and never claims about random Promela programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.systems.programs.promela.random_programs import _Writer

if TYPE_CHECKING:
    import random

_SHAPES = (
    *("[] <> A", "<> [] A", "[] A", "<> A", "A U B", "[] (A -> <> B)", "A V B"),
    *("A -> <> B", "[] (A -> (B U C))", "<> (A && <> B)", "([] <> A) -> ([] <> B)"),
    *("(<> [] A) -> ([] <> B)", "([] <> A) || (<> [] B)", "A W B", "(<> A) -> (A U B)"),
    *("! (A U (B U C))", "[] <> (A && <> B)", "(A U B) U C", "<> [] (A -> B)"),
)


_UNFIT = re.compile("->|_pid")


def propositions(text: str) -> list[str]:
    """Return what formulas may ask about a program: its variables, channels, labels."""
    found = ["x == 1", "y > 1", "z <= 0", "f", "a[0] == 2", "x == y", "_last == 0"]
    found += ["_last == 1", "x % 2", "x != 0 && y != 1"]
    found += [f"len({name}) == {n}" for name in ("q0", "q1") for n in (0, 1)]
    found = [one for one in found if one[4:6] not in ("q0", "q1") or one[4:6] in text]
    number = 0
    for head, rest in re.findall(r"(.*)proctype (?=\w)((?:.|\n)*?\n\})", text):
        name = re.match(r"\w+", rest)[0]
        labels = re.findall(r"\b([a-zA-Z]+\d+):", rest)
        numbers = []
        if "active" in head:
            times = 2 if "[2]" in head else 1
            numbers = list(range(number, number + times))
            number += times
        for pid in numbers:
            found += [f"{name}[{pid}]@{label}" for label in labels]
            if "= [0] of" not in text:  # refused by Spin
                found.append(f"enabled({pid})")
            if "byte v" in rest:
                found.append(f"{name}[{pid}]:v == 1")
    return found


def formulas(text: str, rng: random.Random, number: int) -> list[str]:
    """Return formulas of ``ltl`` blocks."""
    known = propositions(text)
    writer = _Writer(rng)
    values = [writer.value(2) for _ in range(9)]
    known += [value for value in values if not _UNFIT.search(value)]

    def one() -> str:
        shape = rng.choice(_SHAPES)
        return re.sub(r"[ABC]", lambda _: f"({rng.choice(known)})", shape)

    return [one() for _ in range(number)]


def never_claim(text: str, rng: random.Random) -> str:
    """Return a claim: it may end, block, and go round through places that accept."""
    known = propositions(text)
    places = range(rng.randrange(1, 4))
    labels = [f"{rng.choice(['S', 'accept'])}_{place}" for place in places]
    body = ""
    for label in labels:
        word = rng.choice(["do", "if"])
        conditions = [f"({rng.choice(known)})" for _ in range(rng.randrange(1, 3))]
        if rng.random() < 0.7:
            conditions.append(rng.choice(["true", "else", "(x < 9)"]))
        body += f"{label}:\n\t{word}\n"
        for condition in conditions:
            ways = [f"goto {rng.choice(labels)}", f"({rng.choice(known)})", "skip"]
            ways += ["break"] * (word == "do")
            moves = f"{condition} -> {rng.choice(ways)}"
            if condition != "else" and rng.random() < 0.3:  # one move
                more = rng.choice(["", f"({rng.choice(known)}); "])
                moves = f"atomic {{ {more}{moves} }}"
            body += f"\t:: {moves}\n"
        body += f"\t{word[::-1]};\n"
    return f"never {{\n{body}}}\n"
