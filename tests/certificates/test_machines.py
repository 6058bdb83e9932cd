"""Certificates of programs: a machine, and boxes that prove what it does."""

from __future__ import annotations

import copy
import gzip
import json
import random
import warnings
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest

from ltlpipe import LTS, LtlpipeWarning, Network, check, verify_certificate
from ltlpipe.certificates import invariants
from ltlpipe.certificates.checking import values as on
from ltlpipe.certificates.checking.document import Machine, RefusedError
from ltlpipe.certificates.checking.machine import Interpreter, proved_network
from ltlpipe.certificates.checking.verification import ANALYSIS, READERS
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca import reading
from ltlpipe.systems.programs.eca.program import (
    FLAG,
    RunEndedError,
    input_name,
    output_name,
)
from ltlpipe.systems.programs.eca.reading import component_of
from ltlpipe.systems.programs.eca.rules import outputs_of, rules_of
from ltlpipe.systems.programs.eca.system import EcaSystem
from ltlpipe.systems.programs.program import Binary, Lookup, Number, Read, evaluate
from tests.certificates.parts import parts_of, proves
from tests.example_counts import at_least, examples
from tests.systems.programs.eca.random_programs import (
    Counts,
    Draw,
    ReadsInput,
    differing,
)
from tests.systems.programs.eca.small_programs import (
    COUNTER,
    program,
    rule,
    source_of,
    system_in,
)
from tests.systems.programs.eca.test_java import RING
from tests.systems.programs.eca.test_quotient import _parities

_PAIRS = 400  # states of a program that are compared with a machine


def _certified(system, formulas, path):
    """The parts of a certificate of the first formula that holds, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        for formula in formulas:
            verdict = check(system, formula, certificate=str(path), unknown="never")
            if verdict.verdict == "holds":
                return parts_of(path, system)
    return None


def _formulas(system, rng):
    names = [action.name for action in system.actions]
    for _ in range(12):
        a, b, c = (rng.choice(names) for _ in range(3))
        yield rng.choice([f"G({a} -> X !{b})", f"(!{a} W {b})", f"G({a} -> F {b})"])
        yield f"G({a} -> X(!{b} W {c}))"


def _result(system, parts, path):
    """What becomes of a certificate: verified, or why it is refused."""
    parts.write(path)
    found = verify_certificate(str(path), system)
    return found.reason or found.result


def _is_sound(system, parts):
    """Whether the machine does what the program does, by brute force, and is proved."""
    told = parts.header["machine"]
    src, label, dst = parts.machine[:3]
    moves = {}
    for a, name, b in zip(src, label, dst, strict=True):
        if (a, told["labels"][name]) in moves:
            return False
        moves[a, told["labels"][name]] = b
    source = system.source
    pairs = {((1, *source.initial[2:]), 0)}
    waiting = list(pairs)
    for values, state in waiting:
        for given in source.inputs:
            own = [0, *values]
            try:
                printed = source.step(own, given)
            except RunEndedError:
                printed = None
            half = moves.get((state, input_name(given)))
            if printed is None or half is None:
                if printed is not None or half is not None:
                    return False
                continue
            outputs = {name: b for (a, name), b in moves.items() if a == half}
            if [*outputs] != [output_name(printed)]:
                return False
            pair = tuple(own[1:]), outputs[output_name(printed)]
            if pair not in pairs and len(pairs) < _PAIRS:
                pairs.add(pair)
                waiting.append(pair)
    columns = (np.array(column, dtype=np.int32) for column in (src, label, dst))
    component = LTS(told["states"], 0, tuple(told["labels"]), *columns)
    return proves(Network([component]), parts)


def _random_systems(seeds, monkeypatch):
    """Systems of random programs, half of them by machines that are guessed."""
    kinds = Counts, Draw, Counts, ReadsInput
    for seed in seeds:
        kind = kinds[seed % 4]
        text = kind(random.Random(seed), errors=seed % 3 == 0).text
        few = seed % 4 == 0
        with monkeypatch.context() as patch:
            patch.setattr(reading, "FEW", 20 if few else 1 << 16)
            try:
                system = system_in(text, 21 if few else 300)
            except InputError:
                continue
        if system.lacks is None and system.machine.grounds is not None:
            yield seed, text, system


def _mutant(rng, parts):
    """The same certificate with one thing of its machine changed."""
    changed = copy.deepcopy(parts)
    columns, told = changed.machine, changed.header["machine"]
    n = len(columns[4]) // len(columns[3])
    kinds = ["number"] * 4 + ["target", "cell", "step", "split", "told", "more"]
    kind = rng.choice(kinds)
    cell = rng.randrange(len(columns[3]))
    if kind in ("number", "target"):
        at = rng.randrange(5, 8) if kind == "number" else rng.choice([0, 1, 2, 3])
        column = columns[at]
        if column:
            k = rng.randrange(len(column))
            column[k] += rng.choice([-2, -1, 1, 2, rng.choice(column) - column[k]])
    elif kind in ("cell", "more"):
        begin = sum(columns[4][: cell * n])
        end = begin + sum(columns[4][cell * n : cell * n + n])
        ends = [(3, cell, cell + 1), (4, cell * n, cell * n + n)]
        for at, first, last in ends + [(at, begin, end) for at in (5, 6, 7)]:
            if kind == "cell":
                del columns[at][first:last]
            else:
                columns[at] += columns[at][first:last]
        if kind == "more":
            columns[3][-1] = rng.randrange(told["states"])
    elif kind == "step" and columns[0]:
        k = rng.randrange(len(columns[0]))
        for column in columns[:3]:
            del column[k]
    elif kind == "split":
        k = rng.randrange(len(columns[4]) - 1)
        columns[4][k] += 1
        columns[4][k + 1] -= 1
    elif kind == "told":
        told["told"] = [rng.randrange(-1, n + 1)]
    return changed


def _mutate(seeds, monkeypatch, path, n_mutants=4):
    """Refused or sound; returns how many there are of each."""
    counts = {"certificates": 0, "refused": 0, "sound": 0}
    for seed, text, system in _random_systems(seeds, monkeypatch):
        rng = random.Random(seed)
        parts = _certified(system, _formulas(system, rng), path)
        if parts is None or parts.machine is None:
            continue
        counts["certificates"] += 1
        assert _result(system, parts, path) == "verified", f"seed {seed}\n{text}"
        assert _is_sound(system, parts), f"seed {seed}\n{text}"
        for _ in range(n_mutants):
            changed = _mutant(rng, parts)
            if changed == parts:
                continue
            if _result(system, changed, path) == "verified":
                assert _is_sound(system, changed), f"seed {seed}\n{text}"
                counts["sound"] += 1
            else:
                counts["refused"] += 1
    return counts


def test_what_is_changed_is_refused_or_sound(monkeypatch, tmp_path):
    """Certificates of random programs, and with one thing of each changed."""
    counts = _mutate(range(examples(30)), monkeypatch, tmp_path / "a")
    assert counts["certificates"] > at_least(8)
    assert counts["refused"] > at_least(15)
    assert counts["sound"] > at_least(2)


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(1_000, 1_800, 200))
def test_many_that_are_changed(begin, monkeypatch, tmp_path):
    """The same for hundreds of programs."""
    counts = _mutate(range(begin, begin + 200), monkeypatch, tmp_path / "a", 8)
    assert counts["certificates"] > 60
    assert counts["refused"] > 200


@pytest.mark.parametrize("text", [COUNTER, _parities(10_000, 9_998)])
def test_each_number_that_is_changed(text, tmp_path):
    """Each number of a small certificate, one more or one less, is refused or sound."""
    system = system_in(text, 1 << 22)
    path = tmp_path / "a"
    formulas = ["G(iB -> X !oU)", "G(oW -> X iA)", "G(iB -> X !oX)"]
    parts = _certified(system, formulas, path)
    n_refused = n_sound = 0
    places = [
        (at, k, more)
        for at, column in enumerate(parts.machine)
        for k in range(len(column))
        for more in (-1, 1)
    ]
    for at, k, more in islice(places, 0, None, max(len(places) // examples(150), 1)):
        changed = copy.deepcopy(parts)
        changed.machine[at][k] += more
        if _result(system, changed, path) == "verified":
            assert _is_sound(system, changed), (at, k, more)
            n_sound += 1
        else:
            n_refused += 1
    assert n_refused > n_sound


def _changed_text(text, rng):
    """A program with one of its numbers changed."""
    places = [k for k, c in enumerate(text) if c.isdigit() and text[k - 1] == " "]
    k = rng.choice(places)
    return text[:k] + str((int(text[k]) + rng.choice([1, 2])) % 10) + text[k + 1 :]


def test_a_program_that_is_changed(monkeypatch, tmp_path):
    """A certificate of another program is refused, unless that does the same."""
    n_refused = n_other = 0
    path = tmp_path / "a"
    for seed, text, system in _random_systems(range(examples(20)), monkeypatch):
        rng = random.Random(seed)
        parts = _certified(system, _formulas(system, rng), path)
        if parts is None:
            continue
        for _ in range(3):
            try:
                other = system_in(_changed_text(text, rng), 300)
            except InputError:
                continue
            if _result(other, parts, path) == "verified":
                assert _is_sound(other, parts), f"seed {seed}\n{text}"
                n_other += 1
            else:
                n_refused += 1
    assert n_refused > at_least(4)
    assert n_other > at_least(1)


def test_steps_of_boxes_are_those_of_their_states():
    """What states of a box do, one by one, is among what the box does."""
    n_steps = 0
    for seed in range(examples(60)):
        rng = random.Random(seed)
        kind = rng.choice([Counts, Draw, ReadsInput])
        source = source_of(kind(rng, errors=seed % 2 == 0).text)
        n = len(source.variables)
        sets = [rng.sample(range(-4, 9), rng.choice([1, 2, 4])) for _ in range(n)]
        for k, variable in enumerate(source.variables):
            if variable.arrays:
                sets[k] = rng.sample(range(len(variable.arrays)), 1)
        sets[FLAG] = [0, 1]
        box = tuple(map(on.of, sets))
        if rng.random() < 0.5:
            wide = rng.randrange(2, n)
            if not source.variables[wide].arrays:
                step = rng.choice([1, 3])
                box = (*box[:wide], (range(-50, 9_000, step),), *box[wide + 1 :])
        for given in source.inputs:
            paths = Interpreter(source).step(box, given)
            for _ in range(8):
                state = [rng.choice(rng.choice(values)) for values in box]
                n_steps += _is_followed(source, state, given, paths)
    assert n_steps > at_least(200)


def _is_followed(source, state, given, paths):
    """Assert that a path is the step of a state; return 1 if there is a step."""
    try:
        printed = source.step(state, given)
    except RunEndedError:
        printed = None
    if printed is None:
        assert any(path.output is None or path.failed for path in paths)
        return 0
    alike = [p for p in paths if p.output is not None and p.output.number == printed]
    if state[FLAG] == -1:
        assert any(path.ended for path in alike)
    else:
        assert any(
            not (path.ended or path.failed)
            and all(
                any(x in r for r in s) for x, s in zip(state, path.box, strict=True)
            )
            for path in alike
        )
    return 1


def _random_range(rng):
    if rng.random() < 0.1:
        low = rng.choice([on.MIN, on.MAX - 40, -(1 << 30)])
        return range(low, low + rng.randint(1, 40), rng.choice([1, 2, 7]))
    low, step = rng.randint(-30, 30), rng.choice([1, 1, 2, 3, 5, 12])
    return range(low, low + rng.randint(1, 40), step)


def test_arithmetic_of_ranges_is_that_of_numbers():
    """Each result of two numbers is in the set of results of their ranges."""
    rng = random.Random(7)
    operators = ["+", "-", "*", "/", "%", "<", "<=", "==", "!=", ">=", ">"]
    for _ in range(examples(3_000)):
        a = tuple(_random_range(rng) for _ in range(rng.randint(1, 2)))
        b = tuple(_random_range(rng) for _ in range(rng.randint(1, 2)))
        op = rng.choice(operators)
        if op in ("/", "%"):
            b = on.clipped(b, "!=", 0)
            if not b:
                continue
        found = on.combined(op, a, b)
        for _ in range(10):
            x, y = rng.choice(rng.choice(a)), rng.choice(rng.choice(b))
            value = evaluate(Binary(op, Number(x), Number(y)), [])
            assert any(value in part for part in found), (op, a, b, x, y)


def test_sets_of_values_are_exact():
    """Union, clipping and inclusion, against sets of numbers."""
    rng = random.Random(8)
    for _ in range(examples(1_000)):
        a = tuple(_random_range(rng) for _ in range(rng.randint(1, 3)))
        b = tuple(_random_range(rng) for _ in range(rng.randint(1, 3)))
        own, other = ({x for part in s for x in part} for s in (a, b))
        both = on.union(a, b)
        assert {x for part in both for x in part} == own | other
        assert {x for part in on.of(own) for x in part} == own
        assert on.within(a, both)
        assert on.within(a, b) <= (own <= other)
        assert all(x in on.hull(a) for x in own)
        bound = rng.choice([*own, 0, 3])
        for op in ("<", "<=", "==", "!=", ">=", ">"):
            holds = {
                x for x in own if evaluate(Binary(op, Number(x), Number(bound)), [])
            }
            part = on.clipped(a, op, bound)
            assert {x for r in part for x in r} == holds


FORMULA = "G(iB -> X !oX)"


@pytest.mark.parametrize("name", ["P.c", "P.c.gz", "Ring.java"])
def test_a_program_in_a_file(name, tmp_path, monkeypatch):
    """It is read again, and not analysed; a file that has changed is refused."""
    data = (RING if name == "Ring.java" else COUNTER).encode()
    file, path = tmp_path / name, str(tmp_path / "a.cert")
    file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert check(str(file), FORMULA, certificate=path).verdict == "holds"
    with monkeypatch.context() as patch:
        patch.setattr(reading, "machine_of", None)  # nothing asks for it
        found = verify_certificate(path)
    assert (found.result, found.reason) == ("verified", None)
    assert found.claim == f"no run of {file} violates {FORMULA}"
    assert found.trusted[0] == READERS
    assert ANALYSIS not in found.trusted
    file.write_bytes(file.read_bytes() + b" ")
    assert "is not the file" in verify_certificate(path).reason


def test_a_program_without_boxes(tmp_path, monkeypatch):
    """Where none are found the certificate rests on the analysis, and says so."""
    monkeypatch.setattr(invariants, "_MOST_CELLS", 0)
    file, path = tmp_path / "P.c", str(tmp_path / "a.cert")
    file.write_text(COUNTER)
    check(str(file), FORMULA, certificate=path)
    assert "machine" not in parts_of(tmp_path / "a.cert").header
    found = verify_certificate(path)
    assert found.result == "verified"
    assert found.trusted[:2] == (READERS, ANALYSIS)


def _wrong(rng, machine):
    """A machine with a step that goes elsewhere, prints something else, or is gone."""
    label, target, first = machine.label.copy(), machine.target.copy(), machine.first
    k = rng.randrange(len(target))
    kind = rng.choice(["target", "output", "gone", "more"])
    if kind == "target":
        target[k] = rng.randrange(machine.n_states)
    elif kind == "output":
        label[k, 1] = rng.randrange(len(machine.outputs))
    elif kind == "gone":
        label, target = np.delete(label, k, axis=0), np.delete(target, k)
        first = first - (first > k)
    else:
        own = rng.randrange(machine.n_states)
        begin, end = first[own : own + 2].tolist()
        free = {*range(len(machine.inputs))} - {*label[begin:end, 0].tolist()}
        if free:
            step = rng.choice([*free]), rng.randrange(len(machine.outputs))
            label = np.insert(label, end, step, axis=0)
            target = np.insert(target, end, rng.randrange(machine.n_states))
            first = first + (np.arange(len(first)) > own)
    return replace(machine, label=label, target=target, first=first)


class _Columns:
    """Columns as a certificate has them."""

    def __init__(self, columns):
        self._columns = list(columns)

    def columns(self, n, count):
        found = [self._columns.pop(0) for _ in range(count)] if n else []
        assert all(len(column) == n for column in found)
        return found or [np.zeros(0, dtype=np.int64)] * count


def _with_machine(system, machine):
    """The system of another machine, and whether that does what the program does."""
    source, printed = system.source, outputs_of(complete(rules_of(system.source, "P")))
    component = complete(component_of(machine, printed, "P", source))
    made = EcaSystem(component, source, n_states=machine.n_states, machine=machine)
    return made, not differing(source, machine, _PAIRS)[0]


def _is_accepted(system, monkeypatch):
    """Whether the check accepts boxes that are closed but for what is wrong."""
    follow = invariants._Closure._follow

    def lenient(*arguments):
        with suppress(RefusedError):
            follow(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(invariants._Closure, "_follow", lenient)
        parts = complete(invariants.invariant_of(system))
    if parts is None:
        return False
    told = parts.to_dict()
    header = Machine(**told | {name: tuple(told[name]) for name in ("labels", "told")})
    columns = _Columns(parts.columns())
    try:
        complete(proved_network(system.source, header, columns, "P"))
    except RefusedError:
        return False
    return True


def test_wrong_machines_are_refused(monkeypatch):
    """Boxes that are closed but for what a wrong machine does: they prove nothing."""
    n_wrong = n_right = 0
    for seed, _, system in _random_systems(range(examples(80)), monkeypatch):
        if not len(system.machine.target):
            continue
        rng = random.Random(seed)
        machine = system.machine if seed % 5 == 0 else _wrong(rng, system.machine)
        made, is_right = _with_machine(system, machine)
        if _is_accepted(made, monkeypatch):
            assert is_right, f"seed {seed}"
            n_right += 1
        if not is_right:
            assert complete(invariants.invariant_of(made)) is None, f"seed {seed}"
            n_wrong += 1
    assert n_wrong > at_least(20)
    assert n_right > at_least(8)


ENDS = program(
    "\n".join(
        [
            rule("(input == 1) && a == 0", 21, "a = 1 "),
            rule("(input == 2) && a == 0", 22, "a = 2 "),
            rule("(input == 1) && a == 1", 23, "b = (7 / (a - 1))"),
            rule("(input == 2) && a == 1", 23, "a = 3 "),
            rule("(input == 1) && a == 3", 23).replace(
                'printf("%d\\n", 23); fflush(stdout)', "__VERIFIER_error(1)"
            ),
            rule("(input == 2) && a == 3", 21, "a = 0 "),
        ]
    ),
    declared="\t int a = 0;\n\t int b = 0;\n",
    inputs="1,2,3",
    check="if(a == 2) { cf = 0; __VERIFIER_error(1); }",
)
"""An error behind an output, a division by zero, an error in a rule, and refusals."""


def _changes(machine):
    """All machines with one step more, less, or changed."""
    n, m = machine.n_states, len(machine.target)
    known = {}
    for own in range(n):
        for k in range(machine.first[own], machine.first[own + 1]):
            given, output = machine.label[k].tolist()
            known[own, given] = output, int(machine.target[k])
    assert len(known) == m
    every = [
        (output, dst) for output in range(len(machine.outputs)) for dst in range(n)
    ]
    for place in product(range(n), range(len(machine.inputs))):
        for step in (None, *every):
            steps = {**known, place: step}
            rows = sorted((*key, *own) for key, own in steps.items() if own)
            first = np.searchsorted([row[0] for row in rows], np.arange(n + 1))
            columns = np.array(rows, dtype=np.int32).reshape(-1, 4)
            yield replace(
                machine,
                first=first,
                label=columns[:, 1:3].astype(np.int16),
                target=columns[:, 3],
            )


def test_each_step_that_is_changed(monkeypatch):
    """Of a small program with all kinds of ends, against brute force."""
    system = system_in(ENDS)
    assert (system.n_states, len(system.machine.target)) == (4, 4)
    counts = {True: 0, False: 0}
    for machine in _changes(system.machine):
        made, is_right = _with_machine(system, machine)
        assert _is_accepted(made, monkeypatch) == is_right
        counts[is_right] += 1
    assert min(counts.values()) > 3


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("labels", ["iB", "iA", "oX", "oY", "oZ"], "labels are not"),
        ("states", 1, "leaves its states"),
        ("cells", -1, "less than 0"),
        ("told", ["a"], "of no use"),
        ("more", 1, "unknown field"),
    ],
)
def test_headers_that_make_no_sense(field, value, reason, tmp_path):
    """They are refused before the boxes are looked at."""
    system, path = system_in(COUNTER), tmp_path / "a"
    parts = _certified(system, [FORMULA], path)
    parts.write(path)
    header = json.loads(path.read_bytes().split(b"\n")[1])["machine"]
    parts.write(path, machine=header | {field: value})
    assert reason in verify_certificate(str(path), system).reason


def test_boxes_that_hold_nothing(tmp_path):
    """Without a cell nothing leads out of one, but the first state is in none."""
    system, path = system_in(COUNTER), tmp_path / "a"
    parts = _certified(system, [FORMULA], path)
    parts.machine[3:] = [[] for _ in parts.machine[3:]]
    assert _result(system, parts, path) == "the first state may leave class 0"


@pytest.mark.parametrize("op", ["/", "%"])
def test_some_of_many_divisors_are_zero(op):
    """Whether a computation may fail is told of sets that are too large to be tried."""
    source = source_of(COUNTER)
    n = len(source.variables)
    for part, fails in ((range(-9_999, 9_999), True), (range(1, 9_999), False)):
        box = [(part,)] * n
        found = Interpreter(source).value(Binary(op, Number(7), Read(n - 1)), box)
        assert found[1] == fails
        index = Lookup((1, 2, 3), Read(n - 1))
        assert Interpreter(source).value(index, box)[1]


def test_what_is_nested_too_deeply(tmp_path):
    """A long conjunction is gone through; what recursion cannot follow is refused."""
    path = tmp_path / "a"
    guard = " && ".join(["a * 2 != b"] * 800)
    rules = [rule(f"(input == 1) && {guard}", 24, "a = 5 ")]
    system = system_in(program(rules[0], declared="\t int a = 4;\n\t int b = 1;"))
    parts = _certified(system, ["G(oX -> X !oX)"], path)
    assert _result(system, parts, path) == "verified"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Interpreter, "split", lambda *_: deeper())
        assert _result(system, parts, path) == "the program is nested too deeply"
        assert complete(invariants.invariant_of(system)) is None


def deeper():
    """Go on until recursion ends."""
    return deeper()
