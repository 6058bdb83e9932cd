"""Sequential problems in the manner of the RERS challenge: programs in C.

Every property of every problem below ``eca/problems`` (and of other folders that are
named) is asked once, by the automatic choice.  ``rers_sequential.csv`` has a row for
each problem: properties decided, right and wrong; states of the program as a search of
the compiled program meets them (gcc, a harness of this benchmark, up to a bound), with
liveness of variables alone, and with regions, too; seconds of CPU time for reading, for
the analysis, for enumerating the states, and for all properties; and how many calls,
pairs of a state and an input, the kernel (without regions, where it has most to do) and
the compiled program make in a second.  Small programs are written as Promela, too: the
verdicts of Spin that are right, the states that it stores (half-steps and the claim's
among them), CPU time of Spin, gcc and the verifiers, and of the verifiers alone.

The exit code is 1 if an answer is wrong.  Aims: all right, 60 s for the properties of
each problem, calls within a factor of 3 of compiled C.

    python -m benchmarks.rers_sequential [--problems D01,D02] [--more FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import record
from benchmarks.spin import available, run_spin
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.task_sources import find_problems, tasks_of
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca.enumeration import enumerated, prepare
from ltlpipe.systems.programs.eca.liveness import VALUE
from ltlpipe.systems.programs.eca.program import (
    N_OWN,
    STEP,
    Assign,
    Call,
    If,
    Print,
    Refuse,
    input_name,
    output_name,
)
from ltlpipe.systems.programs.eca.ranges import assigned
from ltlpipe.systems.programs.eca.rules import rules_of
from ltlpipe.systems.programs.eca.syntax import read_source
from ltlpipe.systems.programs.program import Binary, Lookup, Number, Read, Unary, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.batch.task_sources import Problem
    from ltlpipe.systems.programs.eca.program import Source, Statement
    from ltlpipe.systems.programs.eca.rules import Rules
    from ltlpipe.systems.programs.program import Expression

_BOUND = 1_000_000
"""States of the compiled program, and of one that is reduced by liveness alone."""

_FEW = 50
"""States of the compiled program up to which Spin is asked, too."""

_HARNESS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
static int OUT;
#define main program_main
#define printf(format, number) (OUT = (number))
#define fprintf(...) (OUT = -1)
#define fflush(stream)
%(program)s
#undef main
#undef printf
#undef fprintf
#undef fflush
void __VERIFIER_error(int n) { (void)n; OUT = -1; }
static void *const PARTS[] = {%(parts)s};
static const size_t SIZES[] = {%(sizes)s};
enum { N = %(n)d, WIDTH = %(width)d };
static void save(char *to) {
  for (int k = 0; k < N; to += SIZES[k++]) memcpy(to, PARTS[k], SIZES[k]);
}
static void load(const char *from) {
  for (int k = 0; k < N; from += SIZES[k++]) memcpy(PARTS[k], from, SIZES[k]);
}
static uint64_t hashed(const char *row) {
  uint64_t h = 1469598103934665603ull;
  for (int k = 0; k < WIDTH; k += 4) {
    uint32_t word;
    memcpy(&word, row + k, 4);
    h = (h ^ word) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  }
  return h;
}
int main(int argc, char **argv) {
  size_t bound = strtoul(argv[1], 0, 10), mask = 1, n = 0, calls = 0, at = 0;
  (void)argc;
  while (mask < 4 * bound) mask *= 2;
  uint32_t *slots = calloc(mask--, 4);
  int n_inputs = sizeof(inputs) / sizeof(int);
  char *rows = malloc((bound + n_inputs + 1) * WIDTH);
  clock_t begin = clock();
  for (save(rows), slots[hashed(rows) & mask] = ++n; at < n && n < bound; at++)
    for (int k = 0; k < n_inputs; k++) {
      load(rows + at * WIDTH);
      OUT = 0;
      calculate_output(inputs[k]);
      calls++;
      if (OUT <= 0) continue;
      char *row = rows + n * WIDTH;
      save(row);
      size_t h = hashed(row) & mask;
      while (slots[h] && memcmp(rows + (slots[h] - 1) * WIDTH, row, WIDTH))
        h = (h + 1) & mask;
      if (!slots[h]) slots[h] = ++n;
    }
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  (printf)("{\"states\": %%zu, \"complete\": %%d, \"calls\": %%zu, \"seconds\": %%f}",
           n, at == n, calls, seconds);
  return 0;
}
"""


def compiled(rules: Rules, text: str) -> dict[str, Any]:
    """Return what a breadth-first search of the program, compiled by gcc, meets."""
    source = rules.source
    targets = sorted(set().union(*(assigned(rule.body) for rule in rules.rules)))
    named = [source.variables[v] for v in targets if v >= N_OWN]
    sizes = [8 if variable.arrays else 4 for variable in named]
    code = _HARNESS % {
        "program": text.replace("extern void __VERIFIER_error(int);", ""),
        "parts": ", ".join(f"&{variable.name}" for variable in named) or "&OUT",
        "sizes": ", ".join(map(str, sizes)) or "4",
        "n": len(named) or 1,
        "width": sum(sizes) or 4,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.c"
        declared = "void __VERIFIER_error(int);\n"
        path.write_text(declared + code)
        binary = Path(folder) / "program"
        how = ["gcc", "-O1", "-w", "-fwrapv", "-o", str(binary), str(path)]
        begin = _cpu()
        subprocess.run(how, check=True)
        built = _cpu() - begin
        run = [str(binary), str(_BOUND)]
        found: dict[str, Any] = json.loads(subprocess.check_output(run))
    return found | {"compile_seconds": built}


def by_spin(source: Source, formulas: Sequence[str]) -> dict[str, Any]:
    """Return what Spin finds of a program, written as Promela, and of formulas."""
    rows, begin = [], _cpu()
    for formula in formulas:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(
                run_spin(
                    partial(promela, source),
                    reduce=False,
                    workdir=Path(folder),
                    depth=100_000,
                    timeout=60.0,
                    hash_bits=16,
                    formula=formula,
                )
            )
    return {
        "spin": [row["verdict"] for row in rows],
        "spin_states": max(int(str(row["states"])) for row in rows),
        "spin_seconds": _cpu() - begin,
        "spin_verifier_seconds": sum(float(str(row["pan_seconds"])) for row in rows),
    }


def promela(source: Source, watched: Sequence[str]) -> str:
    """Write a program as a process of Promela; see `run_spin` about `watched`.

    An input that no rule takes is a step behind which the process stands still.
    """
    numbers = {name: k for k, name in enumerate(watched, start=1)}
    own = [f"int {v.name} = {v.initial};" for v in source.variables]
    step = _statements(source, source.functions[STEP])
    outputs = {n: numbers.get(output_name(n)) for n in set(_printed(source))}
    told = " ".join(f":: (out == {n}) -> last = {k}" for n, k in outputs.items() if k)
    lines = [*own, "int out;", "byte last;", "active proctype program() {", "do"]
    for given in source.inputs:
        last = numbers.get(input_name(given), 0)
        lines.append(
            f":: d_step {{ input = {given}; last = {last}; {step} input = 0 }};"
        )
        lines.append(
            f"d_step {{ (out != 0); if {told} :: else -> last = 0 fi; out = 0 }}"
        )
    return "\n".join([*lines, "od }"])


def _printed(source: Source) -> Iterator[int]:
    todo = [statement for body in source.functions.values() for statement in body]
    while todo:
        statement = todo.pop()
        if isinstance(statement, If):
            todo += (*statement.then, *statement.otherwise)
        elif isinstance(statement, Print):
            yield statement.number


def _statements(source: Source, body: Sequence[Statement]) -> str:
    """Write statements, each with its semicolon."""
    found = []
    for statement in body:
        if isinstance(statement, If):
            test = _written(source, statement.condition)
            then = _statements(source, statement.then)
            otherwise = _statements(source, statement.otherwise)
            found.append(f"if :: {test} -> {then} skip :: else -> {otherwise} skip fi;")
        elif isinstance(statement, Assign):
            name = source.variables[statement.variable].name
            found.append(f"{name} = {_written(source, statement.value)};")
        elif isinstance(statement, Call):
            found.append(_statements(source, source.functions[statement.function]))
        elif isinstance(statement, Print):
            found.append(f"out = {statement.number};")
        else:
            assert isinstance(statement, Refuse), "errors are not written as Promela"
    return " ".join(found)


def _written(source: Source, expression: Expression) -> str:
    """Write an expression; arrays are choices."""
    if isinstance(expression, Number):
        return f"({expression.value})"
    if isinstance(expression, Read):
        return source.variables[expression.variable].name
    operands = [_written(source, part) for part in parts(expression)]
    if isinstance(expression, Binary):
        return f"({operands[0]} {expression.op} {operands[1]})"
    if isinstance(expression, Unary):
        return f"({'!' if expression.op == 'not' else expression.op} {operands[0]})"
    assert isinstance(expression, Lookup)
    chosen = str(expression.values[-1])
    for k, value in enumerate(expression.values[:-1]):
        chosen = f"({operands[0]} == {k} -> {value} : {chosen})"
    return chosen


def reduced(text: str, file: str) -> tuple[Rules, dict[str, Any]]:
    """Return the rules of a program, and what its reduction costs and brings."""
    begin = _cpu()
    rules = complete(rules_of(complete(read_source(text, file)), file))
    read = _cpu()
    prepared = complete(prepare(rules))
    assert prepared is not None
    analysed = _cpu()
    machine = complete(enumerated(prepared, 1 << 22))
    done = _cpu()
    without = complete(prepare(rules, VALUE))
    assert without is not None
    begin_alone = _cpu()
    alone = complete(enumerated(without, _BOUND))
    alone_seconds = _cpu() - begin_alone
    n_calls = alone.n_expanded * len(alone.inputs)
    return rules, {
        "rules": len(rules.rules),
        "read_seconds": read - begin,
        "analyse_seconds": analysed - read,
        "enumerate_seconds": done - analysed,
        "states_liveness": _bounded(alone.n_states, alone.is_complete),
        "states": _bounded(machine.n_states, machine.is_complete),
        "transitions": len(machine.target),
        "kernel_calls_per_second": n_calls / alone_seconds,
    }


def _cpu() -> float:
    """Return the seconds of CPU time of this process and of those that have ended."""
    return time.process_time() + sum(os.times()[2:4])


def _bounded(n: int, is_complete: bool) -> str:
    return str(n) if is_complete else f">{n}"


def measured(problem: Problem, timeout: float) -> dict[str, Any]:
    """Return the row of a problem."""
    (file,), tasks = problem.system, tasks_of([problem])
    text = Path(file).read_text()
    rules, row = reduced(text, file)
    raw = compiled(rules, text)
    begin = _cpu()
    rows = list(solve_rows(tasks, timeout=timeout))
    seconds = _cpu() - begin
    decided = [r for r in rows if r["verdict"] != "unknown"]
    right = sum(r["verdict"] == r["expected"] for r in decided)
    known = sum(r["expected"] is not None for r in decided)
    if raw["complete"] and raw["states"] <= _FEW and available():
        formulas = [task.formula.spot for task in tasks]
        spin = by_spin(rules.source, formulas)
        verdicts = zip(spin.pop("spin"), rows, strict=True)
        spin["spin_right"] = sum(one == r["expected"] for one, r in verdicts)
        row |= spin
    return {
        "problem": problem.name,
        "bytes": len(text),
        **row,
        "states_raw": _bounded(raw["states"], raw["complete"]),
        "compiled_calls_per_second": raw["calls"] / max(raw["seconds"], 1e-6),
        "compile_seconds": raw["compile_seconds"],
        "properties": len(tasks),
        "decided": len(decided),
        "right": right,
        "wrong": known - right,
        "seconds": seconds,
        "longest": max(r["cpu_seconds"] or 0.0 for r in rows),
    }


def main() -> None:
    """Write rers_sequential.csv."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", default="", metavar="NAME,...")
    parser.add_argument("--more", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    data = Path(os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks"))
    names = [name for name in chosen.problems.split(",") if name]
    path = chosen.out / "rers_sequential.csv"
    done = {row["problem"] for row in record.resume(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    for problem in find_problems([data / "eca" / "problems", *chosen.more]):
        if problem.name in done or (names and problem.name not in names):
            continue
        row = measured(problem, chosen.timeout)
        rounded = {
            k: (round(v) if v > 999 else round(v, 3)) if isinstance(v, float) else v
            for k, v in row.items()
        }
        record.append(path, rounded | {"load": round(os.getloadavg()[0], 1)})
        print(rounded, flush=True)
    rows = record.resume(path)
    wrong = sum(int(row["wrong"]) for row in rows)
    total, decided = (
        sum(int(row[k]) for row in rows) for k in ("properties", "decided")
    )
    print(f"{len(rows)} problems: {decided} of {total} decided, {wrong} wrong")
    sys.exit(int(wrong > 0))


if __name__ == "__main__":
    main()
