"""Check of a machine against its program by an invariant: boxes for each class.

The machine is a component with a state for each class and one for each output on its
way (`ltlpipe.systems.programs.eca.system`); its first state is 0.  Why what is checked
makes it bisimilar to the program is in ``docs/certificates.md``.

The program is followed on sets of states, as it was read.  A *box* has a set of values
for each variable; it stands for all states that have one of them each.  Statements are
followed one by one, as by the interpreter that replays lassos
(`ltlpipe.systems.programs.eca.program.Source.step`): a condition divides a box, an
assignment changes it.  What comes out contains all that states of the box can do, and
may contain more.  Nothing of it is shared with the analysis of programs.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.certificates.checking import values as on
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.programs.eca.program import (
    INPUT,
    STEP,
    Assign,
    Call,
    Fail,
    If,
    Print,
    input_name,
    output_name,
)
from ltlpipe.systems.programs.program import (
    Binary,
    EvaluationError,
    Lookup,
    Number,
    Read,
    Unary,
    evaluate,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ltlpipe.certificates.checking.document import Contents, Machine
    from ltlpipe.certificates.checking.values import Values
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.program import Source, Statement
    from ltlpipe.systems.programs.program import Expression

    Box = tuple[Values, ...]  # by variable
    _Literal = tuple[int, str, int]  # a variable, a comparison, and a number

PHASE = "checking the machine"

_STEP_WORK = 300.0  # microseconds of a cell that takes an input, roughly
_VALUE_BYTES = 150  # of a number in a column, and what becomes of it
_MOST_TOLD = 1 << 12  # values by which states are told apart
_MOST_PARTS = 1 << 12  # of a box

Steps = dict[str, tuple[str, int]]
"""Output and class behind, by input."""


def proved_network(
    source: Source, machine: Machine, contents: Contents, name: str
) -> Job[Network]:
    """Return the network of a machine, once it is proved to be the program's.

    Raises
    ------
    RefusedError
        It is not, as far as the boxes tell.
    """
    n = len(source.variables)
    numbers = machine.states + 3 * machine.transitions
    numbers += machine.cells * (n + 1) + 3 * machine.ranges
    ticks = Ticks(PHASE, _STEP_WORK, numbers * _VALUE_BYTES)
    grant = yield ticks.progress
    if min(machine.states, machine.transitions, machine.cells, machine.ranges) < 0:
        raise RefusedError("a number of the machine is less than 0")
    if ticks.memory_bytes > grant.memory_bytes:
        raise StoppedError("memory")
    component = _component(source, machine, contents)
    cells = _cells(n, machine, contents)
    check = MachineCheck(source, component, cells, machine.told)
    first = tuple(on.of([variable.initial]) for variable in source.variables)
    check.arrive(first, 0, "the first state", None)
    for own, boxes in cells.items():
        steps = check.steps_of(own)
        for box in boxes:
            for given in source.inputs:
                check.taken(own, box, given, steps)
                yield from ticks.worked()
    return Network([component], name)


def _component(source: Source, machine: Machine, contents: Contents) -> LTS:
    """Read the machine."""
    src, label, dst = contents.columns(machine.transitions, 3)
    outputs = sorted(_printed(source))
    labels = *map(input_name, source.inputs), *map(output_name, outputs)
    if machine.labels != labels:
        raise RefusedError("the machine's labels are not the program's")
    for column, most in (
        (src, machine.states),
        (label, len(labels)),
        (dst, machine.states),
    ):
        if len(column) and (column.min() < 0 or column.max() >= most):
            raise RefusedError(
                "a transition of the machine leaves its states or labels"
            )
    if not 0 < machine.states < 1 << 31:
        raise RefusedError("the machine has no states, or too many")
    src, label, dst = (column.astype(np.int32) for column in (src, label, dst))
    return LTS(machine.states, 0, labels, src, label, dst)


def _printed(source: Source) -> set[int]:
    """Return all numbers that may be printed, as far as calls tell."""
    found, seen, todo = set(), {STEP}, [*source.functions[STEP]]
    while todo:
        statement = todo.pop()
        if isinstance(statement, If):
            todo += *statement.then, *statement.otherwise
        elif isinstance(statement, Print):
            found.add(statement.number)
        elif isinstance(statement, Call) and statement.function not in seen:
            seen.add(statement.function)
            todo += source.functions[statement.function]
    return found


def _cells(n: int, machine: Machine, contents: Contents) -> dict[int, list[Box]]:
    """Read the boxes of each class."""
    (classes,) = contents.columns(machine.cells, 1)
    (counts,) = contents.columns(machine.cells * n, 1)
    low, high, step = (c.tolist() for c in contents.columns(machine.ranges, 3))
    most = max(machine.ranges, 1)  # sums of more could overflow
    if len(counts) and not (1 <= counts.min() <= counts.max() <= most):
        raise RefusedError("a set of values is empty, or not there")
    if counts.sum() != machine.ranges:
        raise RefusedError("a set of values is empty, or not there")
    parts = [
        range(a, b + 1, s) if s > 0 else range(0)
        for a, b, s in zip(low, high, step, strict=True)
    ]
    if not all(part and part[0] >= on.MIN and part[-1] <= on.MAX for part in parts):
        raise RefusedError("a range is empty, or beyond 32 bits")
    known: dict[Values, Values] = {}  # equal sets are one
    found: dict[int, list[Box]] = {}
    at = 0
    for own, lengths in zip(
        classes.tolist(), counts.reshape(-1, n).tolist(), strict=True
    ):
        box = []
        for length in lengths:
            values = tuple(parts[at : at + length])
            box.append(known.setdefault(values, values))
            at += length
        found.setdefault(own, []).append(tuple(box))
    return found


def _moves(component: LTS) -> list[dict[str, int]]:
    """Return where each state of the machine goes, by label."""
    labels = component.labels
    moves: list[dict[str, int]] = [{} for _ in range(component.n_states)]
    columns = component.src.tolist(), component.label.tolist(), component.dst.tolist()
    for src, label, dst in zip(*columns, strict=True):
        if labels[label] in moves[src]:
            raise RefusedError(f"the machine is not deterministic in its state {src}")
        moves[src][labels[label]] = dst
    return moves


class MachineCheck:
    """The cells, and what they have to contain.

    What writes certificates lets them grow instead.
    """

    def __init__(
        self,
        source: Source,
        component: LTS,
        cells: dict[int, list[Box]],
        told: tuple[int, ...],
    ) -> None:
        self._source = source
        self._program = Interpreter(source)
        self._moves, self._cells, self._told = _moves(component), cells, told

    def steps_of(self, own: int) -> Steps:
        """Return the steps of a class, each of which is an input and an output."""
        inputs = {input_name(given) for given in self._source.inputs}
        if not 0 <= own < len(self._moves) or not self._moves[own].keys() <= inputs:
            raise RefusedError("a cell is of a class that is not there")
        found: Steps = {}
        for name, half in self._moves[own].items():
            if len(self._moves[half]) != 1:
                raise RefusedError(f"state {half} of the machine has no output, or two")
            (found[name],) = self._moves[half].items()
        return found

    def taken(self, own: int, box: Box, given: int, steps: Steps) -> None:
        """Check what the states of a cell do when they take an input."""
        name = input_name(given)
        what = f"class {own}: a state that takes {name}"
        for path in self._program.step(box, given):
            self._follow(path, steps.get(name), what)

    def _follow(self, path: Path, expected: tuple[str, int] | None, what: str) -> None:
        if path.output is None or path.failed:
            if expected is not None:
                raise RefusedError(f"{what} may have no step")
            return
        output = output_name(path.output.number)
        if expected is None or expected[0] != output:
            told = "has no step" if expected is None else f"prints {expected[0]}"
            raise RefusedError(f"{what} may print {output}, and the machine {told}")
        if not path.ended:
            self.arrive(path.box, expected[1], what, path.output)
        elif self._moves[expected[1]]:
            raise RefusedError(f"{what} may end the run, and the machine goes on")

    def arrive(self, box: Box, own: int, what: str, output: Print | None) -> None:  # noqa: ARG002
        """Check that all states of a box, behind an output, are in cells of a class."""
        cells, waiting = self._cells.get(own, []), [box]
        for n_parts, part in enumerate(waiting):
            if any(_inside(part, cell) for cell in cells):
                continue
            smaller = self._parted(part, cells)
            if len(smaller) < 2 or n_parts > _MOST_PARTS:
                raise RefusedError(f"{what} may leave class {own}")
            waiting += smaller

    def _parted(self, box: Box, cells: list[Box]) -> list[Box]:
        """Divide a box by the first variable that tells its states and cells apart."""
        for v in self._told:
            if not 0 <= v < len(box) or on.size(box[v]) > _MOST_TOLD:
                continue
            groups: dict[tuple[bool, ...], list[int]] = {}
            sets = list(dict.fromkeys(cell[v] for cell in cells))
            for value in (x for part in box[v] for x in part):
                key = tuple(any(value in part for part in own) for own in sets)
                groups.setdefault(key, []).append(value)
            if len(groups) > 1:
                sides = map(on.of, groups.values())
                return [(*box[:v], side, *box[v + 1 :]) for side in sides]
        return []


def _inside(box: Box, cell: Box) -> bool:
    return all(
        a is b or on.within(a, b)
        for v, (a, b) in enumerate(zip(box, cell, strict=True))
        if v != INPUT
    )


_FEW_CASES = 1 << 6  # combinations of values that are looked at one by one
_MOST_CASES = 1 << 12  # the same, of a condition that sets do not decide
_MOST_PATHS = 1 << 8
_MOST_KNOWN = 1 << 17  # results that are kept
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Path(NamedTuple):
    """States on their way through a step: where they are, and what they have printed.

    `failed` is whether a computation has no result: there is no step then, whatever
    was printed; `ended` is whether an error has ended the run.
    """

    box: Box
    output: Print | None = None
    failed: bool = False
    ended: bool = False


class Split(NamedTuple):
    """States for which a condition holds, and does not; and whether some have none."""

    yes: Box | None
    no: Box | None
    fails: bool


class Interpreter:
    """A program on boxes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[Any, Any] = {}
        self._reads: dict[int, list[int]] = {}
        self._conjuncts: dict[int, tuple[list[Expression], list[_Literal]]] = {}

    def step(self, box: Box, given: int) -> list[Path]:
        """Return all that can happen when the states of a box take an input."""
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        begin = Path(_with(box, INPUT, (range(given, given + 1),)))
        return self._run(self._source.functions[STEP], [begin])

    def _run(self, body: Sequence[Statement], paths: list[Path]) -> list[Path]:
        for statement in body:
            found: list[Path] = []
            for path in paths:
                if path.failed or path.ended:
                    found.append(path)
                else:
                    found += self._one(statement, path)
            paths = found
            if len(paths) > _MOST_PATHS:
                raise RefusedError("a step of a cell goes too many ways")
        return paths

    def _one(self, statement: Statement, path: Path) -> list[Path]:
        if isinstance(statement, If):
            yes, no, fails = self.split(statement.condition, path.box)
            found = [path._replace(failed=True)] if fails else []
            for box, body in ((yes, statement.then), (no, statement.otherwise)):
                if box is not None:
                    found += self._run(body, [Path(box, path.output)])
            return found
        if isinstance(statement, Assign):
            values, fails = self.value(statement.value, path.box)
            found = [path._replace(failed=True)] if fails else []
            if values:
                box = _with(path.box, statement.variable, values)
                found.append(Path(box, path.output))
            return found
        if isinstance(statement, Call):
            return self._run(self._source.functions[statement.function], [path])
        if isinstance(statement, Print) and path.output is None:
            return [path._replace(output=statement)]
        return [path._replace(ended=True)] if isinstance(statement, Fail) else [path]

    # --- conditions ---------------------------------------------------------

    def split(self, condition: Expression, box: Box) -> Split:
        """Divide a box by a condition."""
        if isinstance(condition, Unary) and condition.op == "not":
            yes, no, fails = self.split(condition.operand, box)
            return Split(no, yes, fails)
        if not (isinstance(condition, Binary) and condition.op in ("&&", "||")):
            return self._by_atom(condition, box)
        if condition.op == "||":
            yes, no, fails = self.split(condition.left, box)
            right = Split(None, no, False)
            if no is not None:
                right = self.split(condition.right, no)
            return Split(_either(yes, right.yes), right.no, fails or right.fails)
        conjuncts, literals = self._parts(condition)
        for k, literal in enumerate(literals):
            if not self._by_literal(literal, box)[0]:
                literals[0], literals[k] = literal, literals[0]  # likely once more
                return Split(None, box, False)
        rest: Box | None = box
        no, fails = None, False
        for part in conjuncts:
            if rest is not None:
                rest, other, failed = self.split(part, rest)
                no, fails = _either(no, other), fails or failed
        return Split(rest, no, fails)

    def _parts(self, condition: Expression) -> tuple[list[Expression], list[_Literal]]:
        """Return all conjuncts, and those that compare a variable with a number.

        There are none of the latter if another conjunct might fail.
        """
        if id(condition) not in self._conjuncts:
            conjuncts, todo = [], [condition]
            while todo:
                node = todo.pop()
                if isinstance(node, Binary) and node.op == "&&":
                    todo += node.right, node.left
                else:
                    conjuncts.append(node)
            found = [_literal(node) for node in conjuncts if not _may_fail(node)]
            known = [each for each in found if each is not None]
            whole = len(found) == len(conjuncts)
            self._conjuncts[id(condition)] = conjuncts, known if whole else []
        return self._conjuncts[id(condition)]

    def _by_literal(self, literal: _Literal, box: Box) -> tuple[Values, Values]:
        variable, op, bound = literal
        key = op, bound, box[variable]
        if key not in self._known:
            opposite = _OPPOSITE[op]
            self._known[key] = tuple(
                on.clipped(box[variable], each, bound) for each in (op, opposite)
            )
        found: tuple[Values, Values] = self._known[key]
        return found

    def _by_atom(self, condition: Expression, box: Box) -> Split:
        literal = _literal(condition)
        if literal is not None:
            v, sides = literal[0], self._by_literal(literal, box)
            yes, no = (_with(box, v, own) if own else None for own in sides)
            return Split(yes, no, False)
        truth, fails = self.value(condition, box)
        may = any(part[0] or part[-1] for part in truth)
        may_not = any(0 in part for part in truth)
        if not (may and may_not) and not fails:
            return Split(box if may else None, box if may_not else None, fails)
        read = self._read(condition)
        sets = [box[v] for v in read]
        if prod(map(on.size, sets)) > _MOST_CASES:
            return Split(box if may else None, box if may_not else None, fails)
        key = id(condition), True, *sets
        if key not in self._known:
            self._known[key] = self._divided(condition, read, sets)
        yes, no = (
            None if found is None else _with_all(box, read, found)
            for found in self._known[key]
        )
        return Split(yes, no, fails)

    def _divided(
        self, condition: Expression, read: list[int], sets: list[Values]
    ) -> list[list[Values] | None]:
        """Return what is read where a condition holds, and where it does not."""
        sides: list[list[tuple[int, ...]]] = [[], []]
        for case, result in self._cases(condition, read, sets):
            if result is not None:
                sides[not result].append(case)
        return [
            [on.of(column) for column in zip(*side, strict=True)] if side else None
            for side in sides
        ]

    # --- expressions --------------------------------------------------------

    def value(self, expression: Expression, box: Box) -> tuple[Values, bool]:
        """Return the values of an expression, and whether some states have none."""
        if isinstance(expression, Number):
            return on.of([expression.value]), False
        if isinstance(expression, Read):
            return box[expression.variable], False
        read = self._read(expression)
        sets = [box[v] for v in read]
        key = id(expression), False, *sets
        if key not in self._known:
            if prod(map(on.size, sets)) <= _FEW_CASES:
                results = {r for _, r in self._cases(expression, read, sets)}
                self._known[key] = on.of(results - {None}), None in results  # type: ignore[arg-type]
            else:
                self._known[key] = self._estimated(expression, box)
        found: tuple[Values, bool] = self._known[key]
        return found

    def _cases(
        self, expression: Expression, read: list[int], sets: list[Values]
    ) -> list[tuple[tuple[int, ...], int | None]]:
        """Return all combinations of values that are read, each with the result."""
        state = [0] * len(self._source.variables)
        found: list[tuple[tuple[int, ...], int | None]] = []
        for case in product(*([x for part in own for x in part] for own in sets)):
            for variable, value in zip(read, case, strict=True):
                state[variable] = value
            try:
                found.append((case, evaluate(expression, state)))
            except EvaluationError:
                found.append((case, None))
        return found

    def _estimated(self, expression: Any, box: Box) -> tuple[Values, bool]:
        """Return values that contain those of an expression, part by part."""
        if isinstance(expression, Lookup):
            index, fails = self.value(expression.index, box)
            inside = on.clipped(on.clipped(index, ">=", 0), "<", expression.size)
            found = {expression.values[k] for part in inside for k in part}
            return on.of(found), fails or on.size(inside) < on.size(index)
        if isinstance(expression, Unary):
            values, fails = self.value(expression.operand, box)
            op = "==" if expression.op == "not" else "-"
            if not values:
                return values, fails
            sides = (values, on.FALSE) if op == "==" else (on.FALSE, values)
            return on.combined(op, *sides), fails
        left, fails = self.value(expression.left, box)
        right, other = self.value(expression.right, box)
        if expression.op in ("&&", "||"):
            return on.EITHER, fails or other
        if expression.op in ("/", "%"):
            divisors = on.clipped(right, "!=", 0)
            right, other = divisors, other or divisors != right
        if not left or not right:
            return (), fails or other
        return on.combined(expression.op, left, right), fails or other

    def _read(self, expression: Expression) -> list[int]:
        """Return the variables that an expression reads."""
        if id(expression) not in self._reads:
            found, todo = set(), [expression]
            while todo:
                node = todo.pop()
                if isinstance(node, Read):
                    found.add(node.variable)
                todo += parts(node)
            self._reads[id(expression)] = sorted(found)
        return self._reads[id(expression)]


_OPPOSITE = {"<": ">=", "<=": ">", "==": "!=", "!=": "==", ">=": "<", ">": "<="}


def _with(box: Box, variable: int, values: Values) -> Box:
    return (*box[:variable], values, *box[variable + 1 :])


def _with_all(box: Box, variables: list[int], sets: list[Values]) -> Box:
    found = list(box)
    for variable, values in zip(variables, sets, strict=True):
        found[variable] = values
    return tuple(found)


def _either(a: Box | None, b: Box | None) -> Box | None:
    """Return a box that contains two."""
    if a is None or b is None:
        return b if a is None else a
    return tuple(x if x is y else on.union(x, y) for x, y in zip(a, b, strict=True))


def _literal(condition: Expression) -> _Literal | None:
    """Return a comparison of a variable with a number; None if it is no such."""
    if not (isinstance(condition, Binary) and condition.op in _OPPOSITE):
        return None
    op, left, right = condition.op, condition.left, condition.right
    if isinstance(left, Number):
        op, left, right = _TURNED.get(op, op), right, left
    if isinstance(left, Read) and isinstance(right, Number):
        return left.variable, op, right.value
    return None


def _may_fail(expression: Any) -> bool:
    if isinstance(expression, Lookup):
        return True
    if isinstance(expression, Binary) and expression.op in ("/", "%"):
        right = expression.right
        if not (isinstance(right, Number) and right.value):
            return True
    return any(map(_may_fail, parts(expression)))
