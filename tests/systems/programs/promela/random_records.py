"""Random Promela programs with records, arrays of channels, `for` and `inline`.

Beside what `random_programs` has: records in arrays, arrays of bits, unsigned fields,
`mtype`, channels in messages and in arrays, `for`, `select`, `inline`, and ``unless``
with receivers as escapes.
"""

from __future__ import annotations

import random
import re

from tests.systems.programs.promela.random_programs import _Around, _Writer

DECLARATIONS = """
mtype = { A, B, C };
typedef Inner { bit k[2]; byte m };
typedef Outer { short s; Inner own };
byte x, y = 1;
short z;
bool f;
unsigned u : 2 = 1;
bit b;
int n;
byte a[2];
byte numbers[2];
mtype kind = B;
Outer r[2];
Outer t;
chan carrier = [1] of { chan };
inline inc(v_, k_) { v_ = (v_ + k_) % 3 }
inline swap(v_, w_) { if :: v_ > 2 -> v_ = 0 :: else -> v_ = w_ % 2 fi; w_ = 1 }
"""

_LOCALS = re.compile(
    r"(chan via; byte i;\n(?:\tchan c = .*\n)?(?:\tbyte v.*\n)?)(L\d+:)?"
)


class _RecordWriter(_Writer):
    """Writes one program; `array` is what a channel of the array `qa` is like."""

    array: tuple[int, int]

    def variable(self) -> str:
        rng = self.rng
        own = [name for name in self.locals if name != "c"] * self.own_share
        names = ["x", "y", "z", "f", "u", "b", "n", "t.own.m", "t.s", *own]
        names.append(f"r[{rng.choice(['0', '1', 'x % 2'])}].s")
        names.append(f"r[{rng.choice('01')}].own.k[{rng.choice('01f')}]")
        return rng.choice(names)

    def message(self, *, sends: bool | None = None) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.08:
            ways = ["carrier!qa[0]", "carrier!qa[1]", "carrier!via", "carrier?via"]
            return rng.choice(ways)
        if kind < 0.18:
            ways = ["kinds!A,1", "kinds!B(x)", "kinds?kind,x", "kinds?A,_"]
            return rng.choice([*ways, "kinds?eval(kind),y", "kinds?B(u)"])
        if kind > 0.43:
            return super().message(sends=sends)
        channel = rng.choice(["qa[0]", "qa[1]", "qa[x % 2]", "via"])
        capacity, fields = self.array
        if self.chance(0.5) if sends is None else sends:
            mark = "!!" if capacity and self.chance(0.2) else "!"
            return f"{channel}{mark}{','.join(self.value(0) for _ in range(fields))}"
        if capacity and self.chance(0.2):
            return f"{channel}?<{self.patterns(fields)}>"
        mark = "??" if capacity and self.chance(0.3) else "?"
        return f"{channel}{mark}{self.patterns(fields)}"

    def simple(self, around: _Around) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.05:
            return f"kind = {rng.choice('ABC')}"
        if kind < 0.09 and not around.in_d_step:
            ways = ["(kind == A)", "(kind != B && x < 2)", "(kinds?[A,_])"]
            return rng.choice([*ways, "(len(qa[x % 2]) < 1)", "(empty(kinds))"])
        if kind < 0.14:
            return f"inc({self.variable()}, {self.value(0)})"
        if kind < 0.18:
            return f"swap({rng.choice(['x', 't.s'])}, {rng.choice(['u', 'r[1].s'])})"
        if kind < 0.22 and not around.in_d_step:
            bounds = f"{rng.randrange(2)} .. {rng.randrange(1, 4)}"
            return f"select ({rng.choice(['x', 'y', 'u', 't.s'])} : {bounds})"
        if kind < 0.25:
            return rng.choice(["x++", "u++", "b++", "n--", "t.s--", "r[0].s++"])
        if kind < 0.28 and around.in_loop and not around.in_d_step:
            return f"{rng.choice(['atomic', ''])} {{ break; y = 2 }}"
        return super().simple(around)

    def statement(self, around: _Around, tabs: str) -> str:
        rng, kind = self.rng, self.rng.random()
        if not around.depth or kind > 0.15:
            return super().statement(around, tabs)
        inner = _Around(around.depth - 1, False, around.in_d_step, around.in_atomic)
        if kind < 0.09 or around.in_d_step:
            whole = rng.random() < 0.3 and not around.in_d_step
            bounds = f": {rng.randrange(2)} .. {rng.randrange(1, 3)}"
            over = "in numbers" if whole else bounds
            return f"for (i {over}) {{ {self.sequence(inner, tabs, 1)} }}"
        body = (
            f"{{ {rng.choice(['atomic', ''])} {{ {self.sequence(inner, tabs, 2)} }} }}"
        )
        return f"{body} unless {{ {self.message()}; {self.sequence(inner, tabs, 1)} }}"


def program_with_records(seed: int) -> str:
    """Return the text of a model; the same for the same seed."""
    rng = random.Random(seed)
    writer = _RecordWriter(rng)
    text = DECLARATIONS
    for number in range(rng.randrange(1, 3)):
        writer.chans[f"q{number}"] = rng.randrange(0, 3), rng.randrange(1, 3)
    for name, (capacity, fields) in writer.chans.items():
        kinds = ", ".join(rng.choice(["byte", "short", "bit"]) for _ in range(fields))
        text += f"chan {name} = [{capacity}] of {{ {kinds} }};\n"
    capacity, fields = writer.array = rng.randrange(0, 2), rng.randrange(1, 3)
    text += f"chan qa[2] = [{capacity}] of {{ {', '.join(['byte'] * fields)} }};\n"
    text += f"chan kinds = [{rng.randrange(0, 2)}] of {{ mtype, byte }};\n"
    heads = [("active proctype P0()", 0)]
    if rng.random() < 0.4:
        heads.insert(0, ("proctype R(byte p0)", 1))
    if rng.random() < 0.5:
        heads.append((f"active {rng.choice(['', '[2]'])} proctype P1()", 0))
    for head, parameters in heads:
        made = writer.process(head, parameters)
        made = made.replace("{\n", "{\n\tchan via; byte i;\n", 1)
        first = f"\tvia = qa[{rng.randrange(2)}];\n"
        text += _LOCALS.sub(lambda m, f=first: m[1] + f + (m[2] or ""), made, count=1)
        if parameters:
            writer.runnable.append(("R", parameters))
    if writer.runnable and rng.random() < 0.7:
        text += f"init {{ run R({rng.randrange(3)}) }}\n"
    # Spin may have one more state where a label stands before nested ``unless``.
    return re.sub(r"(L\d+:)(\s*\{)", r"\1 skip;\2", text)
