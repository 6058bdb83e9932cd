"""Random Promela programs whose processes start others, as text.

No statement reads the number of a process, and each run has few of them.
"""

from __future__ import annotations

import random
from typing import NamedTuple

_LOCAL = ("x = (x + 1) % 3", "y = x", "v = (v + x) % 3", "(x > 0)", "x = v", "skip")
_CONDITIONS = ("x == y", "x > 0", "y != 1", "len(q) == 0", "v < 2")


class _Kind(NamedTuple):
    """A proctype, of those that processes of it may start."""

    name: str
    started: list[str]


def program_of_starts(seed: int) -> str:
    """Return the text of a model; the same for the same seed."""
    rng = random.Random(seed)
    sends = rng.choice(["byte", "chan"]) if rng.random() < 0.2 else "byte"
    names = ["A", "B", "C"][: rng.randrange(1, 4)]
    text = f"byte x, y = 1, n; chan q = [{rng.randrange(2)}] of {{ {sends} }};\n"
    if rng.random() < 0.1:
        text += "chan g;\n"
    for number, name in enumerate(names):
        kind = _Kind(name, names[number + 1 :])
        text += f"proctype {name}(chan r; byte v)\n" + _body(kind, rng, text, sends)
    starts = [f"run {rng.choice(names)}(own, x)" for _ in range(2)]
    wait = rng.choice(["own?_; ", "own?_; ", ""])
    head = "chan own = [1] of { byte }; byte v;"
    start = rng.choice([starts[0], f"if :: {starts[0]} :: else -> x = 2 fi"])
    loop = f"do :: n < 2 -> n++; {start}; {wait}{_simple(rng)} :: break od"
    ways = [loop, f"atomic {{ {starts[0]}; {starts[1]} }}", f"{loop}; {starts[1]}"]
    text += f"init {{ {head} {rng.choice(ways)}; {_simple(rng)} }}\n"
    if rng.random() < 0.5:
        text += f"active proctype D() {{ byte v; {_simple(rng)}; {_simple(rng)} }}\n"
    return text


def _simple(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return "atomic { (x < 2); x++ }"
    return rng.choice(_LOCAL)


def _body(kind: _Kind, rng: random.Random, declared: str, sends: str) -> str:
    found = [_statement(kind, rng) for _ in range(rng.randrange(1, 4))]
    if "chan g" in declared and rng.random() < 0.7:
        found.append(rng.choice(["g = own", "if :: g != 0 -> g!1 :: else fi"]))
    if sends == "chan":
        found.append(rng.choice(["q!own", "if :: q?r; r!1 :: skip fi"]))
    elif rng.random() < 0.3:
        found.append(rng.choice(["q!1", "q?_", "q!v", "q?v"]))
    rng.shuffle(found)
    found += rng.choice([["r!0"], ["r!0"], ["end: r!1"], ["skip"], ["progress: x = 0"]])
    own = f"chan own = [{rng.randrange(2)}] of {{ byte }};"
    return f"{{ {own}\n\t{'; '.join(found)}\n}}\n"


def _statement(kind: _Kind, rng: random.Random) -> str:
    start = None
    if kind.started:
        given = rng.choice(["own", "own", "r"])
        start = f"run {rng.choice(kind.started)}({given}, {rng.choice(['v', '1'])})"
    way = rng.randrange(7 if start else 3)
    condition = rng.choice(_CONDITIONS)
    if way == 0:
        return f"if :: {condition} -> {_simple(rng)} :: else -> {_simple(rng)} fi"
    if way < 3:
        return _simple(rng)
    if way == 3:
        return f"if :: {start} :: {rng.choice([condition, 'else -> x = 2'])} fi"
    if way == 4:
        return f"atomic {{ {_simple(rng)}; {start} }}"
    if way == 5:
        body, escape = f"{start}; {_simple(rng)}", condition
        if rng.random() < 0.3:
            body, escape = _simple(rng), start
        return f"{{ {body} }} unless {{ {escape} }}"
    return f"{start}; own?_" if rng.random() < 0.6 else f"{start}"
