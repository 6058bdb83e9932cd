"""Generated source as instructions of `ltlpipe.systems.programs.machine_kernels`.

The source is that of `generating`, which needs little of Python: assignments of
expressions over integers, branches, loops, and calls of what it imports.  Functions of
the module are put in where they are called.  Names and intermediate results are
registers; what is first assigned in a block is no more needed behind it.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.jit import N_LOCALS
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.packing import PACKING
from ltlpipe.systems.programs.machine_kernels import WIDTH, Op

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job

_INSTRUCTION_WORK = 5.0  # units

_BUFFERS = {"ints", "row", "out_rows", "out_letters", "out_actions", "out_marks"}
_NUMBERS = {"np.int64", "np.uint64", "np.uint32"}  # bits are the same
_CALLS = {
    "begun": Op.BEGUN,
    "are_steps": Op.ARE_STEPS,
    "moved": Op.MOVED,
    "multiply": Op.MULTIPLIED,
    "settle": Op.SETTLE,
    "finish": Op.FINISH,
}
_OPERATORS = {
    ast.Add: Op.ADD,
    ast.Sub: Op.SUBTRACT,
    ast.Mult: Op.MULTIPLY,
    ast.BitAnd: Op.AND,
    ast.BitOr: Op.OR,
    ast.BitXor: Op.XOR,
    ast.LShift: Op.SHIFT_LEFT,
    ast.RShift: Op.SHIFT_RIGHT,
    ast.FloorDiv: Op.FLOOR,
    ast.Mod: Op.MODULO,
}
_ONE = 2  # statements of a function that is an expression, with its docstring
_FEW = 3  # branches below which a table is not worth its place


class TooManyRegistersError(Exception):
    """A model needs more registers than there are."""


class Operand(NamedTuple):
    """A number: what a register holds, plus a constant."""

    register: int = 0
    constant: int = 0


ZERO = Operand()


def assembled(source: str) -> Job[np.ndarray | None]:
    """Return the instructions of a generated module, int64[...].

    None if they need more registers than there are, or expressions are too deep.
    """
    try:
        functions = {
            part.name: part
            for part in ast.parse(source).body
            if isinstance(part, ast.FunctionDef)
        }
        assembler = _Assembler(functions)
        _, _, *body = functions["expand"].body  # behind what the machine does itself
        yield from assembler.block(body)
    except (TooManyRegistersError, SyntaxError, RecursionError):
        return None
    return assembler.finished()


class _Assembler:
    """Makes instructions of a function and of those that it calls."""

    def __init__(self, functions: dict[str, ast.FunctionDef]) -> None:
        self._functions = functions
        self._code: list[list[int]] = []
        self._labels: list[int] = []  # instructions that they stand before
        self._tables: list[list[int]] = []
        self._names: dict[str, int] = {}
        self._next = 1  # register
        self._fresh = 0  # the register that the last instruction has computed
        self._loop = self._loop_end = -1  # labels of the loop around
        self._ticks = Ticks(PACKING)

    def finished(self) -> np.ndarray:
        """Return the instructions, then the tables, with places for labels."""
        places = [WIDTH * number for number in self._labels]
        starts, end = [], WIDTH * len(self._code)
        for table in self._tables:
            starts.append(end)
            end += len(table)
        for line in self._code:
            op = line[0]
            if Op.JUMP <= op <= Op.SWITCH:
                line[1] = places[line[1]]
            if op in (Op.SWITCH, Op.ENTRY):
                number = line[4] >> 32
                line[4] += starts[number] - (number << 32)
            if op == Op.SWITCH:
                table = self._tables[number]
                table[1:] = [places[label] for label in table[1:]]
        return np.array(
            [n for line in (*self._code, *self._tables) for n in line], dtype=np.int64
        )

    # --- what instructions are made with

    def _emit(self, op: Op, to: int = 0, x: int = 0, y: Operand = ZERO) -> None:
        self._code.append([op, to, x, y.register, y.constant])
        self._fresh = 0

    def _computed(self, op: Op, x: int = 0, y: Operand = ZERO) -> Operand:
        """Return a new register, which is computed by an instruction."""
        register = self._new()
        self._emit(op, register, x, y)
        self._fresh = register
        return Operand(register)

    def _new(self) -> int:
        self._next += 1
        if self._next > N_LOCALS:
            raise TooManyRegistersError
        return self._next - 1

    def _label(self) -> int:
        self._labels.append(-1)
        return len(self._labels) - 1

    def _here(self, label: int) -> None:
        self._labels[label] = len(self._code)

    def _table(self, entries: Sequence[int]) -> int:
        """Return what stands for the place of a table."""
        self._tables.append(list(entries))
        return (len(self._tables) - 1) << 32

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """Forget behind it the names and registers that are new in it."""
        before = self._names, self._next
        self._names = dict(self._names)
        yield
        self._names, self._next = before

    # --- statements

    def block(self, statements: Sequence[ast.stmt]) -> Job[None]:
        """Add the instructions of statements."""
        for statement in statements:
            begin = len(self._code)
            yield from self._statement(statement)
            yield from self._ticks.worked(_INSTRUCTION_WORK * (len(self._code) - begin))

    def _inner(self, statements: Sequence[ast.stmt]) -> Job[None]:
        with self._scope():
            yield from self.block(statements)

    def _statement(self, statement: Any) -> Job[None]:
        match statement:
            case ast.If():
                yield from self._if(statement)
            case ast.While(test=test, body=body):
                yield from self._while(test, body)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds)):
                yield from self._for(name, bounds, statement.body)
            case ast.Assign(value=ast.Call(func=ast.Name(id=name))) if (
                name in self._functions and len(self._functions[name].body) > _ONE
            ):
                yield from self._part(statement.targets[0], statement.value)
            case _:
                self._simple(statement)

    def _simple(self, statement: Any) -> None:
        """Add the instructions of a statement without others inside."""
        match statement:
            case ast.Assign(
                targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
            ):
                for name, value in zip(names, values, strict=True):
                    self._set(_name(name), value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call() as call):
                with self._scope():
                    first = self._call(_name(call.func), call).register
                    for k, name in enumerate(names):
                        to = self._names[_name(name)]
                        self._emit(Op.SET, to, y=Operand(first + k))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._set(name, value)
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                kinds = {"out_rows": Op.ROW, "out_actions": Op.ACTION}
                buffer = _name(place.value)
                self._store(kinds.get(buffer, Op.MARKS), place, value)
            case ast.AugAssign(target=ast.Subscript() as place, op=ast.BitXor()):
                self._store(Op.CHANGE, place, statement.value)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
                self._add(name, statement.value)
            case ast.Return(value=value):
                self._emit(Op.RETURN, y=self._value(value))
            case ast.Continue():
                self._emit(Op.JUMP, self._loop)
            case ast.Break():
                self._emit(Op.JUMP, self._loop_end)
            case ast.Expr(value=ast.Call(func=ast.Name(id="copied"), args=given)):
                at, n_words, count = map(self._value, given[1:])
                self._emit(Op.COPIED, count.register, at.register, n_words)
            case ast.Expr(value=ast.Call() as call):
                with self._scope():
                    self._value(call)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                raise _unknown(statement)

    def _set(self, name: str, value: ast.expr) -> None:
        register = self._names.get(name)
        target = self._new() if register is None else register
        after = self._next
        found = self._value(value)
        if found == Operand(self._fresh) and self._fresh >= after:
            self._code[-1][1] = target  # computed for this alone
        elif found != Operand(target):
            self._emit(Op.SET, target, y=found)
        self._names[name], self._next = target, after
        self._fresh = 0

    def _add(self, name: str, value: ast.expr) -> None:
        register, last = self._names[name], self._code[-1]
        is_one = isinstance(value, ast.Constant) and value.value == 1
        is_next = last[0] == Op.ACTION and last[2] == register
        if is_one and is_next and len(self._code) not in self._labels[-2:]:
            last[:3] = [Op.EMIT, register, 0]
            return
        with self._scope():
            found = self._value(value)
            self._emit(Op.ADD, register, register, found)

    def _store(self, op: Op, place: ast.Subscript, value: ast.expr) -> None:
        with self._scope():
            at: Any = place.slice
            word = 0
            if isinstance(at, ast.Tuple):
                at, word = at.elts[0], self._value(at.elts[1]).constant
            found = self._value(value)
            self._emit(op, word, self._register(self._value(at)), found)

    def _if(self, statement: ast.If) -> Job[None]:
        name, branches, rest = _alternatives(statement)
        otherwise, end = self._label(), self._label()
        if len(branches) < _FEW or min(branches) < 0:
            with self._scope():
                self._branch(statement.test, False, otherwise)
            branches, rest = {0: statement.body}, statement.orelse
            labels = {}
        else:
            labels = {number: self._label() for number in branches}
            every = (labels.get(n, otherwise) for n in range(max(labels) + 1))
            table = self._table([max(labels) + 1, *every])
            self._emit(Op.SWITCH, otherwise, self._names[name], Operand(0, table))
        for number, body in branches.items():
            if labels:
                self._here(labels[number])
            yield from self._inner(body)
            if rest or labels:
                self._emit(Op.JUMP, end)
        self._here(otherwise)
        yield from self._inner(rest)
        self._here(end)

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> Job[None]:
        self._loop, self._loop_end = self._label(), self._label()
        end = self._loop_end
        self._here(self._loop)
        with self._scope():
            self._branch(test, False, end)
        yield from self._inner(body)
        self._emit(Op.JUMP, self._loop)
        self._here(end)

    def _for(
        self, name: str, bounds: list[ast.expr], body: list[ast.stmt]
    ) -> Job[None]:
        with self._scope():
            *first, last = map(self._value, bounds)
            bound, begin, end = self._register(last), self._label(), self._label()
            number = self._names[name] = self._new()
            self._emit(Op.SET, number, y=first[0] if first else Operand())
            self._here(begin)
            self._emit(Op.IF_NOT_LESS, end, number, Operand(bound))
            yield from self._inner(body)
            self._emit(Op.SET, number, y=Operand(number, 1))
            self._emit(Op.JUMP, begin)
            self._here(end)

    def _part(self, target: Any, call: Any) -> Job[None]:
        """Put a function in where it is called."""
        function = self._functions[call.func.id]
        to = self._names[target.id]
        with self._scope():
            self._names = self._arguments(function, call)
            *body, last = function.body
            yield from self.block(body)
            assert isinstance(last, ast.Return)
            found = self._value(last.value)
            if found != Operand(to):
                self._emit(Op.SET, to, y=found)

    def _arguments(self, function: ast.FunctionDef, call: ast.Call) -> dict[str, int]:
        pairs = zip(function.args.args, call.args, strict=True)
        return {
            parameter.arg: self._register(self._value(argument))
            for parameter, argument in pairs
            if parameter.arg not in _BUFFERS
        }

    # --- expressions

    def _register(self, operand: Operand) -> int:
        if not operand.constant:
            return operand.register
        return self._computed(Op.SET, y=operand).register

    def _value(self, node: Any) -> Operand:
        """Return the value of an expression, which instructions have computed."""
        match node:
            case ast.Constant(value=int(number)):  # True is one
                return Operand(0, int(number))
            case ast.Name(id=name):
                return Operand(self._names[name])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._value(operand)
                if found.register == 0:
                    return Operand(0, -found.constant)
                return self._computed(Op.SUBTRACT, y=found)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self._computed(Op.INVERT, y=self._value(operand))
            case ast.BinOp():
                return self._binary(node)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp():
                return self._either(node, ast.Constant(1), ast.Constant(0))
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self._either(test, yes, no)
            case ast.Call():
                return self._call(_name(node.func), node)
            case ast.Subscript(value=value, slice=place):
                return self._item(value, place)
        raise _unknown(node)

    def _either(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Operand:
        result, otherwise, end = self._new(), self._label(), self._label()
        with self._scope():
            self._branch(test, False, otherwise)
            self._emit(Op.SET, result, y=self._value(yes))
            self._emit(Op.JUMP, end)
            self._here(otherwise)
            self._emit(Op.SET, result, y=self._value(no))
            self._here(end)
        return Operand(result)

    def _binary(self, node: ast.BinOp) -> Operand:
        match node:
            case ast.BinOp(
                left=ast.BinOp(
                    left=word, op=ast.RShift(), right=ast.Constant(value=int(shift))
                ),
                op=ast.BitAnd(),
                right=ast.Constant(value=int(mask)),
            ):
                x = self._register(self._value(word))
                return self._computed(Op.FIELD, x, Operand(shift, mask))
            case ast.BinOp(
                left=left,
                op=ast.BitOr(),
                right=ast.BinOp(
                    left=value, op=ast.LShift(), right=ast.Constant(value=int(shift))
                ),
            ):
                x = self._register(self._value(left))
                shifted = self._register(self._value(value))
                return self._computed(Op.INSERT, x, Operand(shifted, shift))
        a, b = self._value(node.left), self._value(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)) and b.register == 0:
            sign = 1 if isinstance(node.op, ast.Add) else -1
            return Operand(a.register, a.constant + sign * b.constant)
        return self._computed(_OPERATORS[type(node.op)], self._register(a), b)

    def _call(self, name: str, call: ast.Call) -> Operand:
        if name in _NUMBERS:
            return self._value(call.args[0])
        if name == "wrapped":
            return self._computed(Op.WRAPPED, y=self._value(call.args[0]))
        if name in ("divided", "remainder"):
            left, right = map(self._value, call.args)
            op = Op.DIVIDED if name == "divided" else Op.REMAINDER
            return self._computed(op, self._register(left), right)
        if name in self._functions:  # of one expression
            function, names = self._functions[name], self._names
            self._names = self._arguments(function, call)
            last: Any = function.body[-1]
            found = self._value(last.value)
            self._names = names
            return found
        given = [a for a in call.args if _name(a) not in _BUFFERS]
        values = list(map(self._value, given))
        registers = [self._new() for _ in values]
        for register, value in zip(registers, values, strict=True):
            self._emit(Op.SET, register, y=value)
        result = self._computed(_CALLS[name], registers[0])
        self._new()  # for a second result
        return result

    def _item(self, value: Any, place: Any) -> Operand:
        """Return an entry of a table or of a buffer."""
        if isinstance(value, ast.Tuple):
            entries = [self._value(entry).constant for entry in value.elts]
            index = self._register(self._value(place))
            return self._computed(Op.ENTRY, y=Operand(index, self._table(entries)))
        if value.id == "row":
            return self._computed(Op.OWN_WORD, y=self._value(place))
        if value.id == "out_rows":
            at, word = place.elts
            x = self._register(self._value(at))
            return self._computed(Op.WORD_OF, x, self._value(word))
        op = Op.LETTER_OF if value.id == "out_letters" else Op.MARKS_OF
        return self._computed(op, self._register(self._value(place)))

    # --- truth values

    def _branch(self, node: Any, wanted: bool, label: int) -> None:
        """Jump to a label if an expression is true, or not, as is wanted."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._branch(operand, not wanted, label)
            case ast.BoolOp(op=op, values=[*others, last]):
                # Where the first parts decide.
                is_or = isinstance(op, ast.Or)
                decided = label if is_or == wanted else self._label()
                for part in others:
                    self._branch(part, is_or, decided)
                self._branch(last, wanted, label)
                if decided != label:
                    self._here(decided)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                self._compare(left, op, right, wanted, label)
            case ast.Compare(left=left, ops=[op, *ops], comparators=[middle, *others]):
                pair = ast.Compare(left, [op], [middle])
                rest = ast.Compare(middle, ops, others)
                self._branch(ast.BoolOp(ast.And(), [pair, rest]), wanted, label)
            case ast.Constant(value=value):
                if bool(value) == wanted:
                    self._emit(Op.JUMP, label)
            case _:
                zero = ast.Constant(0)
                self._compare(node, ast.NotEq(), zero, wanted, label)

    def _compare(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, wanted: bool, label: int
    ) -> None:
        if isinstance(op, (ast.Gt, ast.LtE)):
            left, right = right, left
        x, y = self._register(self._value(left)), self._value(right)
        if isinstance(op, (ast.LtE, ast.GtE, ast.NotEq)):
            wanted = not wanted
        if isinstance(op, (ast.Eq, ast.NotEq)):
            jump = Op.IF_EQUAL if wanted else Op.IF_DIFFERENT
        else:
            jump = Op.IF_LESS if wanted else Op.IF_NOT_LESS
        self._emit(jump, label, x, y)


def _alternatives(
    statement: ast.If,
) -> tuple[str, dict[int, list[ast.stmt]], list[ast.stmt]]:
    """Return the name that branches tell apart, the branches, and what is left."""
    subject = ""
    branches: dict[int, list[ast.stmt]] = {}
    rest: list[ast.stmt] = [statement]
    while len(rest) == 1:
        match rest[0]:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id=name),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=int(value))],
                ),
                body=body,
                orelse=orelse,
            ) if subject in ("", name) and value not in branches:
                subject, branches[value], rest = name, body, orelse
            case _:
                break
    return subject, branches, rest


def _name(node: Any) -> str:
    """Return a name as it is written (`ast.unparse` takes long); else nothing."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
    return ""


def _unknown(node: ast.AST) -> ValueError:
    return ValueError(f"no instruction for {ast.unparse(node)}")
