"""Random Promela programs with what few programs have.

Beside what `random_programs` has: jumps and labels anywhere, small unsigned types,
values that are truncated, shifts, ``run`` as a value, ``_nr_pr``, ``provided``,
``timeout`` in ``atomic``, traces, nested ``unless``, several kinds of labels.
"""

from __future__ import annotations

import random

from tests.systems.programs.promela.random_programs import _Around, _Writer

DECLARATIONS = """
byte x, y = 1;
short z;
bool f;
unsigned u : 3 = 5;
bit b;
int n;
byte a[2];
"""


class _RareWriter(_Writer):
    """Writes one program; `inner` are labels of the process that is written."""

    inner: list[str]

    def variable(self) -> str:
        return self.rng.choice([super().variable(), "u", "b", "n"])

    def value(self, depth: int = 1) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind > 0.3 or not depth:
            return super().value(depth)
        a, b = self.value(depth - 1), self.value(depth - 1)
        ways = [f"(1 << ({a} & 3))", f"({a} >> ({b} & 1))", f"(-{a})", f"(~{a} & 7)"]
        ways += ["_nr_pr", f"({a} / 2)", f"({a} % 3)", f"(({a} * 100) + {b})"]
        ways += [rng.choice(["-1", "256", "70000", "-129"]), "len(q0)", f"(!{a})"]
        return rng.choice(ways)

    def condition(self, *, polls: bool = True) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.1:
            return f"(_nr_pr {rng.choice(['==', '<', '>'])} {rng.randrange(1, 4)})"
        if kind < 0.15:
            return f"({self.value()})"
        return super().condition(polls=polls)

    def label(self) -> str:
        self.labels += 1
        kind = self.rng.choice(["L", "L", "L", "end", "progress", "accept"])
        return f"{kind}{self.labels}"

    def simple(self, around: _Around) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.06 and self.inner and not around.in_d_step:
            return f"goto {rng.choice(self.inner)}"
        if kind < 0.1 and self.runnable and self.runs < 2 and not around.in_d_step:
            self.runs += 1
            name, parameters = rng.choice(self.runnable)
            made = f"run {name}({', '.join(self.value() for _ in range(parameters))})"
            return rng.choice([f"x = {made}", f"({made})", made])
        if kind < 0.12 and not around.in_d_step:
            return "timeout"
        if kind < 0.18:
            return f"{rng.choice('bufxz')} = {self.value(2)}"
        return super().simple(around)

    def statement(self, around: _Around, tabs: str) -> str:
        made, rng = self._statement(around, tabs), self.rng
        if around.in_d_step or rng.random() > 0.12 or made.startswith("byte"):
            return made
        label = self.label()
        self.inner.append(label)
        return f"{rng.choice(['skip', 'y++'])}; {label}: {made}"

    def _statement(self, around: _Around, tabs: str) -> str:
        rng, kind = self.rng, self.rng.random()
        if around.depth <= 0 or around.in_d_step or kind > 0.12:
            return super().statement(around, tabs)
        inner = _Around(around.depth - 1, around.in_loop, False, around.in_atomic)
        body = self.sequence(inner, tabs, 2)
        wrap = rng.choice(["", "atomic ", "d_step "])
        if wrap == "d_step ":
            body = self.sequence(_Around(around.depth - 1, False, True), tabs, 2)
        escape = self.sequence(inner, tabs, 1)
        if rng.random() < 0.5:
            escape = f"{self.condition(polls=False)} -> {escape}"
        if rng.random() < 0.3:
            escape = f"{rng.choice(['atomic', 'd_step'])} {{ {escape} }}"
        return f"{wrap}{{ {body} }} unless {{ {escape} }}"

    def process(self, head: str, parameters: int, *, tail: str = "") -> str:
        self.inner = []
        made = super().process(head, parameters, tail=tail)
        if self.inner and self.rng.random() < 0.5:  # a jump to what comes later
            first = f"if :: {self.condition(polls=False)} -> goto "
            first += f"{self.rng.choice(self.inner)} :: else fi;\n"
            place = made.rindex("\n}")
            made = f"{made[:place]};\n\t{first[:-2]}{made[place:]}"
        return made


def rare_program(seed: int) -> str:
    """Return the text of a model; the same for the same seed."""
    rng = random.Random(seed)
    writer = _RareWriter(rng)
    text = DECLARATIONS
    for number in range(rng.randrange(1, 3)):
        writer.chans[f"q{number}"] = rng.randrange(0, 3), rng.randrange(1, 3)
    for name, (capacity, fields) in writer.chans.items():
        kinds = ["byte", "short", "bit", "int"]
        made = ", ".join(rng.choice(kinds) for _ in range(fields))
        text += f"chan {name} = [{capacity}] of {{ {made} }};\n"

    def tail() -> str:
        if rng.random() > 0.15:
            return ""
        condition = rng.choice(["x != 2", "y < 2", "_nr_pr < 3", "len(q0) < 1", "!f"])
        return f" provided ({condition})"

    if rng.random() < 0.5:
        kinds = [rng.choice(["byte", "bit", "short"]) for _ in range(rng.randrange(3))]
        listed = "; ".join(f"{kind} p{i}" for i, kind in enumerate(kinds))
        text += writer.process(f"proctype R({listed})", len(kinds), tail=tail())
        writer.runnable.append(("R", len(kinds)))
    for number in range(rng.randrange(1, 3)):
        active = rng.choice(["active", "active", "active [2]"])
        text += writer.process(f"{active} proctype P{number}()", 0, tail=tail())
    if writer.runnable and rng.random() < 0.7:
        name, parameters = writer.runnable[0]
        values = ", ".join(rng.choice(["0", "1", "258"]) for _ in range(parameters))
        text += f"init {{ run {name}({values}); run {name}({values}) }}\n"
    if rng.random() < 0.15:
        text += trace(rng, writer.chans)
    return text


def trace(rng: random.Random, chans: dict[str, tuple[int, int]]) -> str:
    """Return a trace assertion, which many programs violate."""
    name, (_, fields) = rng.choice(sorted(chans.items()))
    rest = ",_" * (fields - 1)
    send, receive = f"{name}!{rng.choice('01_')}{rest}", f"{name}?_{rest}"
    body = rng.choice(
        [
            f"do :: {send} :: {receive} od",
            f"do :: {name}!_{rest} od",
            f"{send}; {receive}",
            f"do :: {send} -> {receive} od",
        ]
    )
    return f"{rng.choice(['trace', 'notrace'])} {{ {body} }}\n"
