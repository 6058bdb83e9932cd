"""Random programs in the syntax of the challenge, and what they do by brute force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.programs.eca.program import RunEndedError

if TYPE_CHECKING:
    import random

    from ltlpipe.systems.programs.eca.enumeration import Machine
    from ltlpipe.systems.programs.eca.program import Source

_NUMBERS = (-29, -7, -3, -1, 0, 1, 2, 3, 4, 5, 7, 11, 14)


class Draw:
    """A program that is drawn; `text` is its C."""

    def __init__(self, rng: random.Random, *, errors: bool = False) -> None:
        self.rng = rng
        self.inputs = rng.sample(range(1, 6), rng.randint(2, 4))
        self.plain = [f"a{k}" for k in range(rng.randint(2, 3))]  # few values
        self.wide = [f"b{k}" for k in range(rng.randint(1, 3))]
        self.size = rng.randint(2, 4)
        self.arrays = [f"t{k}" for k in range(3)]
        self.pointers = ["p0"] if rng.random() < 0.5 else []
        self.errors = errors
        self.text = self._program()

    def _number(self) -> int:
        return self.rng.choice(_NUMBERS)

    def _guard(self, depth: int = 0) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            return f"{rng.choice(self.plain)} == {rng.randrange(4)}"
        if kind < 0.5:
            low = self._number()
            name = rng.choice(self.wide)
            return f"(({low} < {name}) && ({low + rng.randint(1, 9)} >= {name}))"
        if kind < 0.65:
            op = rng.choice(["<", "<=", ">", ">=", "!=", "=="])
            return f"{rng.choice(self.wide)} {op}  {self._number()}"
        if kind < 0.72 and self.pointers:
            return f"({self._number()} == p0[{rng.randrange(self.size)}])"
        if kind < 0.78:
            name = rng.choice(self.plain + self.wide)
            return f"{name} == t0[{rng.randrange(self.size)}]"
        if kind < 0.83:
            return f"({rng.choice(self.wide)} % 3) == {rng.randrange(3)}"
        if kind < 0.87:
            return f"{rng.choice(self.plain)} < {rng.choice(self.wide)}"
        if depth < 2 and kind < 0.97:
            a, b = self._guard(depth + 1), self._guard(depth + 1)
            return f"(({a}) {rng.choice(['||', '&&'])} ({b}))"
        return f"!({self._guard(depth + 1)})" if depth < 3 else f"{self.plain[0]} == 1"

    def _value(self, depth: int = 0) -> str:
        rng = self.rng
        kind = rng.random()
        if depth == 2 or kind < 0.25:
            return rng.choice([str(self._number()), *self.wide, *self.plain])
        if kind < 0.33:
            array, index = (
                rng.choice(self.arrays + self.pointers),
                self._value(depth + 1),
            )
            if index.lstrip("-").isdecimal():
                index = str(rng.randrange(self.size))
            elif rng.random() < 0.7:
                index = f"((({index} % {self.size}) + {self.size}) % {self.size})"
            return f"{array}[{index}]"
        if kind < 0.45:
            return f"({self._value(depth + 1)} % {rng.choice([2, 3, 5, 7, 14999])})"
        if kind < 0.55:
            return f"({self._value(depth + 1)} / {rng.choice([-5, 2, 3, 10])})"
        if kind < 0.58:
            return f"({self._value(depth + 1)} / {rng.choice(self.wide)})"
        op = rng.choice(["+", "-", "*"])
        return f"({self._value(depth + 1)} {op} {self._value(depth + 1)})"

    def _statement(self, depth: int = 0) -> str:
        rng = self.rng
        kind = rng.random()
        if depth < 2 and kind < 0.15:
            then = " ".join(
                self._statement(depth + 1) for _ in range(rng.randint(1, 2))
            )
            text = f"if(({self._guard()})) {{ {then} }}"
            return f"{text}else {{ {self._statement(depth + 1)} }}"
        if kind < 0.45:
            return f"{rng.choice(self.plain)} = {rng.randrange(4)} ;"
        if kind < 0.52:
            return f"{rng.choice(self.plain)} = (({rng.choice(self.plain)} + 1) % 4);"
        if kind < 0.6 and self.pointers:
            return f"p0 = {rng.choice(self.arrays)};"
        if kind < 0.7:  # into one region, as the published ones do
            value, n, low = self._value(), rng.randint(1, 6), self._number()
            return f"{rng.choice(self.wide)} = ((({value}) % {n}) + {low});"
        if kind < 0.9:  # few values, so that brute force comes to an end
            value = self._value()
            return f"{rng.choice(self.wide)} = (({value}) % {rng.choice([2, 5, 9])});"
        return f"{rng.choice(self.wide)} = {self._value()};"

    def _rule(self, line: str = "") -> str:
        rng = self.rng
        given = rng.choice(
            [
                f"(input == {rng.choice(self.inputs)})",
                f"input == inputs[{rng.randrange(len(self.inputs))}]",
                f"((input == {rng.choice(self.inputs)}) || input == {self.inputs[0]})",
            ]
        )
        own = [self._guard() for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        parts = [" cf==1 ", given, *own]
        rng.shuffle(parts)
        guard = " && ".join(f"({part})" for part in parts)
        body = " ".join(self._statement() for _ in range(rng.randint(0, 4)))
        shown = f'printf("%d\\n", {rng.randint(21, 24)}); fflush(stdout);'
        if self.errors and rng.random() < 0.1:
            shown = "__VERIFIER_error(3);"
        return f"if({guard}) {{\n cf = 0; {body} {shown}\n}} {line}"

    def _program(self) -> str:
        rng = self.rng
        arrays = []
        for name in self.arrays:
            values = ",".join(str(self._number()) for _ in range(self.size))
            arrays.append(f"int {name}[] = {{{values}}};")
        scalars = [f"int {name}  = {rng.randrange(4)};" for name in self.plain]
        scalars += [f"int {name} = {self._number()};" for name in self.wide]
        scalars += [
            f"int *{name} = {rng.choice(self.arrays)};" for name in self.pointers
        ]
        rng.shuffle(scalars)
        inner = "\n".join(self._rule() for _ in range(rng.randint(3, 9)))
        outer = "\n".join(self._rule() for _ in range(rng.randint(3, 9)))
        check = ""
        if self.errors:
            check = (
                f"if((({self._guard()}) && b0 == 2)) {{ cf = 0; __VERIFIER_error(7); }}"
            )
        return f"""#include <stdio.h>
extern void __VERIFIER_error(int);
// inputs
int inputs[] = {{{",".join(map(str, self.inputs))}}};
void errorCheck();
void calculate_output(int);
void calculate_outputm1(int);
int cf = 1;
{chr(10).join([*arrays, *scalars])}
void errorCheck() {{ {check} }}
void calculate_outputm1(int input) {{
{inner}
}}
void calculate_output(int input) {{
cf = 1;
if(({self.plain[0]} == {rng.randrange(3)} && cf==1)) {{
calculate_outputm1(input);
}}
{outer}
errorCheck();
if( cf==1 )
  fprintf(stderr, "Invalid input: %d\\n", input);
}}
int main() {{ while(1) {{ int input; scanf("%d", &input); calculate_output(input); }} }}
"""


class ReadsInput(Draw):
    """A program whose rules read the input in their bodies, too."""

    def _value(self, depth: int = 0) -> str:
        return "input" if self.rng.random() < 0.2 else super()._value(depth)

    def _statement(self, depth: int = 0) -> str:
        rng = self.rng
        if depth == 3 or rng.random() < 0.7:
            return super()._statement(depth)
        test = f"(input == {rng.choice(self.inputs)}) {rng.choice(['&&', '||'])}"
        return f"if({test} ({self._guard()})) {{ {self._statement(depth + 1)} }}"


class Counts(Draw):
    """A program with counters that go round, of which tests see remainders only."""

    def __init__(self, rng: random.Random, *, errors: bool = False) -> None:
        divisors = [rng.choice([2, 3]) for _ in range(2)]
        self.counters = {
            f"c{k}": (divisor, divisor * rng.choice([5, 20, 33]))
            for k, divisor in enumerate(divisors)
        }
        super().__init__(rng, errors=errors)

    def _guard(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.6:
            return super()._guard(depth)
        name = rng.choice([*self.counters])
        divisor, size = self.counters[name]
        if rng.random() < 0.05:
            return f"({name} >= {size - divisor})"
        return f"({name} % {divisor}) == {rng.randrange(divisor)}"

    def _statement(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.5:
            return super()._statement(depth)
        name = rng.choice([*self.counters])
        divisor, size = self.counters[name]
        step = divisor * rng.randint(1, 4) + (rng.random() < 0.2)
        return f"{name} = (({name} + {step}) % {size});"

    def _program(self) -> str:
        declared = "".join(f"int {name} = 0;\n" for name in self.counters)
        return (
            super()._program().replace("int cf = 1;\n", f"int cf = 1;\n{declared}", 1)
        )


def differing(source: Source, machine: Machine, most: int) -> tuple[list[int], int]:
    """Compare a program with its machine on states that can be reached, breadth first.

    Returns the inputs after which they do not do the same, or none; and how many pairs
    of states were compared, at most about `most`.
    """
    pairs: dict[tuple[tuple[int, ...], int], list[int]]
    pairs = {((1, *source.initial[2:]), 0): []}
    waiting = list(pairs)
    for values, state in waiting:
        way = pairs[values, state]
        begin, end = machine.first[state], machine.first[state + 1]
        steps = {
            machine.inputs[given]: (machine.outputs[output], int(target))
            for (given, output), target in zip(
                machine.label[begin:end].tolist(),
                machine.target[begin:end].tolist(),
                strict=True,
            )
        }
        if len(steps) != end - begin:
            return way, len(pairs)
        for given in source.inputs:
            own = [0, *values]
            try:
                printed = source.step(own, given)
            except RunEndedError:
                printed = None
            expected = steps.get(given)
            if (printed is None) != (expected is None):
                return [*way, given], len(pairs)
            if expected is None:
                continue
            if printed != expected[0]:
                return [*way, given], len(pairs)
            pair = tuple(own[1:]), expected[1]
            if pair not in pairs and len(pairs) < most:
                pairs[pair] = [*way, given]
                waiting.append(pair)
    return [], len(pairs)
