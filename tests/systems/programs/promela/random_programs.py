"""Random Promela programs of few states, as text, for comparison with Spin."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field


@dataclass
class _Around:
    """What a statement is inside of."""

    depth: int
    in_loop: bool = False
    in_d_step: bool = False
    in_atomic: bool = False


@dataclass
class _Writer:
    """Writes one program."""

    rng: random.Random
    chans: dict[str, tuple[int, int]] = field(default_factory=dict)  # capacity, fields
    locals: list[str] = field(default_factory=list)
    labels: int = 0
    runnable: list[tuple[str, int]] = field(default_factory=list)
    runs: int = 0
    has_rendezvous: bool = False
    own_share: int = 1  # how often the own variables are among those to choose from

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def variable(self) -> str:
        own = [name for name in self.locals if name != "c"] * self.own_share
        names = ["x", "y", "z", "f", "a[0]", f"a[{self.rng.choice('xf')} % 2]", *own]
        return self.rng.choice(names)

    def value(self, depth: int = 1) -> str:
        rng = self.rng
        kind = rng.randrange(10 if depth else 5)
        if kind < 2:
            return str(rng.randrange(3))
        if kind < 5:
            return self.variable()
        a, b = self.value(depth - 1), self.value(depth - 1)
        if kind == 5:
            return "_pid"
        if kind == 6:
            return f"({a} {rng.choice('+-*')} {b})"
        if kind == 7:
            return f"({a} {rng.choice(['==', '<', '>=', '!='])} {b})"
        if kind == 8:
            return f"({a} == {b} -> {a} : {self.value(0)})"
        return f"({a} {rng.choice('&|^')} {b})"

    def condition(self, *, polls: bool = True) -> str:
        rng = self.rng
        kind = rng.randrange(9)
        if kind < 5:
            op = rng.choice(["==", "!=", "<", ">"])
            return f"({self.variable()} {op} {self.value(0)})"
        if kind == 5:
            return f"({self.condition(polls=polls)} || {self.condition(polls=polls)})"
        if kind == 6:
            return f"!({self.condition(polls=polls)})"
        chan, (capacity, fields) = rng.choice(sorted(self.chans.items()))
        if kind == 7 or not polls or not capacity:
            return f"(len({chan}) {rng.choice(['==', '<', '>'])} {rng.randrange(2)})"
        if self.chance(0.5):
            return f"{rng.choice(['full', 'nfull', 'empty', 'nempty'])}({chan})"
        return f"{chan}{rng.choice(['?', '??'])}[{self.patterns(fields, stores=False)}]"

    def patterns(self, fields: int, *, stores: bool = True) -> str:
        rng, found = self.rng, []
        for _ in range(fields):
            kind = rng.randrange(4)
            if kind == 0:
                found.append(str(rng.randrange(3)))
            elif kind == 1:
                found.append(f"eval({self.variable()})")
            elif kind == 2 or not stores:
                found.append("_")
            else:
                found.append(rng.choice(["x", "y", "z", *self.locals[1:]]))
        return ",".join(found)

    def message(self, *, sends: bool | None = None) -> str:
        rng = self.rng
        chan, (capacity, fields) = rng.choice(sorted(self.chans.items()))
        if "c" in self.locals and self.chance(0.3):
            chan, capacity, fields = "c", 1, 1
        if sends is None:
            sends = self.chance(0.5)
        if sends:
            mark = "!!" if capacity and self.chance(0.2) else "!"
            values = [self.value(0) for _ in range(fields)]
            return f"{chan}{mark}{','.join(values)}"
        mark = "??" if capacity and self.chance(0.3) else "?"
        patterns = self.patterns(fields)
        if capacity and self.chance(0.2):
            return f"{chan}{mark}<{patterns}>"
        return f"{chan}{mark}{patterns}"

    def simple(self, around: _Around) -> str:
        """Return a statement without others in it."""
        rng = self.rng
        kind = rng.randrange(14)
        if kind < 5:
            target = self.variable()
            return (
                f"{target} = ({self.value()} + 3) % 3"
                if self.chance(0.8)
                else (f"{target} = {self.value()}")
            )
        if kind < 8 and not around.in_d_step:
            return self.message()
        if kind < 10 and not around.in_d_step:
            return self.condition()
        if kind == 10:
            return rng.choice(["skip", 'printf("x")', "assert(x < 3)"])
        if kind == 11 and self.runs < 2 and self.runnable and not around.in_d_step:
            self.runs += 1
            name, parameters = rng.choice(self.runnable)
            arguments = [self.value(0) for _ in range(parameters)]
            return f"run {name}({', '.join(arguments)})"
        if kind == 12 and not around.in_d_step and not around.in_atomic:
            return "timeout"
        return f"{rng.choice(['x', 'y'])} = {rng.randrange(3)}"

    def choice(self, around: _Around, tabs: str) -> str:
        rng = self.rng
        repeats = self.chance(0.4)
        inner = _Around(
            around.depth - 1,
            around.in_loop or repeats,
            around.in_d_step,
            around.in_atomic,
        )
        with_else = self.chance(0.4)
        options = []
        for _ in range(rng.randrange(1, 4)):
            if with_else or around.in_d_step:
                first = self.condition(polls=False)
            elif self.chance(0.7):
                first = self.simple(inner)
            else:
                first = self.statement(inner, tabs + "\t")
            rest = self.sequence(inner, tabs + "\t", 1)
            options.append(f"{first}; {rest}" if self.chance(0.8) else first)
        if with_else:
            place = rng.randrange(len(options) + 1)
            options.insert(place, f"else -> {self.sequence(inner, tabs, 1)}")
        if repeats:
            options.append(
                rng.choice(["break", f"{self.condition(polls=False)} -> break"])
            )
        word = "do" if repeats else "if"
        lines = "".join(f"{tabs}:: {option}\n" for option in options)
        return f"{word}\n{lines}{tabs}{word[::-1]}"

    def statement(self, around: _Around, tabs: str) -> str:
        rng = self.rng
        if around.depth <= 0 or self.chance(0.6):
            if around.in_loop and not around.in_d_step and self.chance(0.08):
                return "break"
            return self.simple(around)
        kind = rng.randrange(8)
        inner = _Around(
            around.depth - 1, around.in_loop, around.in_d_step, around.in_atomic
        )
        if kind < 4 or around.in_d_step:
            return self.choice(around, tabs)
        if kind < 6:
            inner.in_atomic = True
            return f"atomic {{ {self.sequence(inner, tabs, 3)} }}"
        if kind == 6:
            inner.in_d_step, inner.in_loop = True, False
            first = self.condition(polls=False) + " -> " if self.chance(0.4) else ""
            return f"d_step {{ {first}{self.sequence(inner, tabs, 2)} }}"
        body = self.sequence(inner, tabs, 2)
        escape = self.condition(polls=False)
        rest = self.sequence(inner, tabs, 1)
        return f"{{ {body} }} unless {{ {escape} -> {rest} }}"

    def sequence(self, around: _Around, tabs: str, most: int) -> str:
        found = [
            self.statement(around, tabs) for _ in range(self.rng.randrange(1, most + 1))
        ]
        return "; ".join(found)

    def process(self, head: str, parameters: int, *, tail: str = "") -> str:
        rng = self.rng
        self.locals = ["c"] if self.chance(0.2) else []
        declared = "\tchan c = [1] of { byte };\n" if self.locals else ""
        self.locals = ["c"] * bool(self.locals) + [f"p{i}" for i in range(parameters)]
        if not self.locals:
            self.locals = ["v"]
            declared += f"\tbyte v = {rng.choice(['0', '1', '_pid', 'x'])};\n"
        elif self.locals == ["c"]:
            self.locals.append("v")
            declared += "\tbyte v;\n"
        body = ""
        label = ""
        if self.chance(0.3):
            self.labels += 1
            label = f"L{self.labels}"
            body += f"{label}:"
        parts = [self.statement(_Around(2), "\t") for _ in range(rng.randrange(1, 4))]
        if self.chance(0.2):
            parts.insert(rng.randrange(len(parts) + 1), "byte w = x; z = w")
        if label and self.chance(0.7):
            parts.append(
                f"if :: {self.condition(polls=False)} -> goto {label} :: else fi"
            )
        body += ";\n".join(f"\t{part}" for part in parts)
        return f"{head}{tail}\n{{\n{declared}{body}\n}}\n"


def random_program(seed: int, own_share: int = 1) -> str:
    """Return the text of a model; the same for the same seed.

    The larger `own_share` is, the more processes keep to themselves.
    """
    rng = random.Random(seed)
    writer = _Writer(rng, own_share=own_share)
    for number in range(rng.randrange(1, 3)):
        writer.chans[f"q{number}"] = rng.randrange(0, 3), rng.randrange(1, 3)
    lines = ["byte x, y = 1;", "short z;", "bool f;", "byte a[2];"]
    for name, (capacity, fields) in writer.chans.items():
        kinds = ", ".join(rng.choice(["byte", "short", "bit"]) for _ in range(fields))
        lines.append(f"chan {name} = [{capacity}] of {{ {kinds} }};")
    text = "\n".join(lines) + "\n"
    if rng.random() < 0.4:
        parameters = rng.randrange(0, 3)
        listed = "; ".join(f"byte p{i}" for i in range(parameters))
        text += writer.process(f"proctype R({listed})", parameters)
        writer.runnable.append(("R", parameters))
    for number in range(rng.randrange(1, 3)):
        active = rng.choice(["active", "active", "active [2]"])
        provided = " provided (x != 2)" if rng.random() < 0.1 else ""
        text += writer.process(f"{active} proctype P{number}()", 0, tail=provided)
    if writer.runnable and rng.random() < 0.7:
        name, parameters = writer.runnable[0]
        runs = [
            f"run {name}({', '.join(str(rng.randrange(3)) for _ in range(parameters))})"
            for _ in range(rng.randrange(1, 3))
        ]
        body = "; ".join(runs)
        text += (
            f"init {{ atomic {{ {body} }} }}\n"
            if rng.random() < 0.5
            else (f"init {{ {body} }}\n")
        )
    return text


def with_priorities(text: str, rng: random.Random) -> str:
    """Return a program of which some processes have, set or ask for priorities.

    Without rendezvous, which Spin does not take beside priorities.
    """

    def prioritised(share: float, found: re.Match[str]) -> str:
        return found[0] + f" priority {rng.randrange(1, 4)}" * (rng.random() < share)

    def statement(found: re.Match[str]) -> str:
        level = rng.randrange(1, 4)
        ways = [f"set_priority(_pid, {level})", "x = get_priority(_pid) % 3"]
        return rng.choice([found[0], *ways, "z = get_priority(1) % 3"])

    text = text.replace("= [0] of", "= [1] of")
    for head, share in ((r"proctype \w+\([^)]*\)", 0.5), (r"run \w+\([^)]*\)", 0.4)):
        text = re.sub(head, lambda found, share=share: prioritised(share, found), text)
    declared, first, processes = text.partition("proctype")
    simple = r"\bskip\b|\b[xy] = [012](?=[;\n ])"
    return declared + first + re.sub(simple, statement, processes)
