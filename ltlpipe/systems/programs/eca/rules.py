"""The rules of a program, in its order, and the values at which their guards change.

A guard is a conjunction.  Conditions on a single variable, which compare it with
constants, become *literals*: the *spans* of its values for which they hold.  Any other
condition is kept as an expression.

The *cuts* of a variable are the values at which some literal, or a comparison inside of
a condition, changes its truth: between them lie its *regions*, numbered from 0, and
sets of regions are the bits of an integer.

At most one rule fires in a step, by the flag: every guard asks that it is 1, and every
rule sets it to 0.  A program in which that is not so is refused.  A condition under
which the program ends, in ``errorCheck``, is a rule for all inputs that prints `ERROR`
and comes before all others: the state that a step leads to has no successors then.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.program import (
    ERROR,
    FLAG,
    INPUT,
    STEP,
    Assign,
    Call,
    Fail,
    If,
    Print,
    Refuse,
    Source,
    statements_in,
)
from ltlpipe.systems.programs.eca.syntax import READING
from ltlpipe.systems.programs.program import (
    COMPARISONS,
    Binary,
    EvaluationError,
    Expression,
    Number,
    Read,
    Unary,
    evaluate,
    may_fail,
    nodes_in,
    parts,
)
from ltlpipe.systems.programs.ranges import FLIPPED, MAX, MIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.program import Statement

MOST_INPUTS = 62
"""Inputs that a set of the kernel can hold."""

MOST_OUTPUTS = (1 << 15) - 1
"""Outputs that a label of the kernel, of 16 bits, can number."""

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Sets of integers: intervals with gaps between, ascending."""

_ALL: Spans = ((MIN, MAX),)
_DEEPEST = 50  # calls inside of calls


class Rule(NamedTuple):
    """One rule."""

    inputs: tuple[int, ...]  # those that it takes, as numbers in the order of inputs
    literals: tuple[tuple[int, Spans], ...]  # variables, ascending, and their values
    conditions: tuple[Expression, ...]  # which hold, too
    body: tuple[Statement, ...]  # assignments and ifs of them
    output: int  # or ERROR
    line: int  # of what is printed


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of a program."""

    source: Source
    rules: tuple[Rule, ...]

    @cached_property
    def cuts(self) -> tuple[tuple[int, ...], ...]:
        """For each variable the first values of its regions but the lowest."""
        found: list[set[int]] = [set() for _ in self.source.variables]
        for rule in self.rules:
            for variable, spans in rule.literals:
                found[variable].update(bounds(spans))
            tests = [s.condition for s in statements_in(rule.body) if isinstance(s, If)]
            for condition in (*rule.conditions, *tests):
                for variable, spans in simple_parts(condition, self.source):
                    found[variable].update(bounds(spans))
        return tuple(tuple(sorted(each - {MIN, MAX + 1})) for each in found)

    def region(self, variable: int, value: int) -> int:
        """Return the region of a value."""
        return bisect_right(self.cuts[variable], value)

    def between(self, variable: int, low: int, high: int) -> int:
        """Return the regions of the values from `low` to `high`."""
        cuts = self.cuts[variable]
        first, last = bisect_right(cuts, low), bisect_right(cuts, high)
        return (2 << last) - (1 << first)

    def within(self, variable: int, spans: Spans) -> int:
        """Return the regions of which spans consist."""
        mask = 0
        for low, high in spans:
            mask |= self.between(variable, low, high)
        return mask

    def masks(self, number: int) -> dict[int, int]:
        """Return the regions that the literals of a rule allow, by variable."""
        literals = self.rules[number].literals
        return {variable: self.within(variable, spans) for variable, spans in literals}

    def lowest(self, variable: int, region: int) -> int:
        """Return the least value of a region."""
        return self.cuts[variable][region - 1] if region else MIN

    def highest(self, variable: int, region: int) -> int:
        """Return the largest value of a region."""
        cuts = self.cuts[variable]
        return cuts[region] - 1 if region < len(cuts) else MAX


def bounds(spans: Spans) -> Iterator[int]:
    """Yield the values at which membership changes."""
    for low, high in spans:
        yield low
        yield high + 1


def reads(expression: Expression) -> set[int]:
    """Return the variables that an expression reads."""
    return {node.variable for node in nodes_in(expression) if isinstance(node, Read)}


# --- spans ------------------------------------------------------------------


def _complement(spans: Spans) -> Spans:
    found, begin = [], MIN
    for low, high in spans:
        if begin < low:
            found.append((begin, low - 1))
        begin = high + 1
    return (*found, (begin, MAX)) if begin <= MAX else tuple(found)


def _both(a: Spans, b: Spans) -> Spans:
    met = ((max(p[0], q[0]), min(p[1], q[1])) for p in a for q in b)
    return tuple((low, high) for low, high in met if low <= high)


def _either(a: Spans, b: Spans) -> Spans:
    return _complement(_both(_complement(a), _complement(b)))


def _compared(op: str, value: int) -> Spans:
    """Return the values x with ``x op value``."""
    if op == "!=":
        return _complement(((value, value),))
    low = value + (op == ">") if op in (">", ">=", "==") else MIN
    high = value - (op == "<") if op in ("<", "<=", "==") else MAX
    return ((low, high),) if low <= high else ()


def simple(expression: Expression, source: Source) -> tuple[int, Spans] | None:
    """Return a condition as one on a variable; None if it is no such.

    A condition on the input or a pointer only is one, whatever it computes.
    """
    read = reads(expression)
    if len(read) != 1:
        return None
    (variable,) = read
    domain = domain_of(source, variable)
    if domain is None:
        spans = _spans(expression)
        return None if spans is None else (variable, spans)
    values = [0] * len(source.variables)
    found: Spans = ()
    for value in domain:
        values[variable] = value
        try:
            if evaluate(expression, values):
                found = _either(found, ((value, value),))
        except EvaluationError:
            return None
    return variable, found


def domain_of(source: Source, variable: int) -> Sequence[int] | None:
    """Return the values of the input or a pointer; None for other variables."""
    if variable == INPUT:
        return source.inputs
    arrays = source.variables[variable].arrays
    return range(len(arrays)) if arrays else None


def _spans(expression: Expression) -> Spans | None:
    """Return the values of the one variable of a condition for which it holds."""
    if isinstance(expression, Number):
        return _ALL if expression.value else ()
    if isinstance(expression, Unary) and expression.op == "not":
        inner = _spans(expression.operand)
        return None if inner is None else _complement(inner)
    if not isinstance(expression, Binary):
        return None
    op, left, right = expression.op, expression.left, expression.right
    if op in ("&&", "||"):
        a, b = _spans(left), _spans(right)
        if a is None or b is None:
            return None
        return _both(a, b) if op == "&&" else _either(a, b)
    if op not in COMPARISONS:
        return None
    if isinstance(left, Number):
        op, left, right = FLIPPED[op], right, left
    if isinstance(left, Read) and isinstance(right, Number):
        return _compared(op, right.value)
    return None


def simple_parts(expression: Expression, source: Source) -> Iterator[tuple[int, Spans]]:
    """Yield the largest conditions on single variables of which one is made."""
    found = simple(expression, source)
    if found is not None:
        yield found
    elif is_connective(expression):
        for part in parts(expression):
            yield from simple_parts(part, source)


def is_connective(expression: Expression) -> bool:
    """Whether the value depends on the truth of the parts only."""
    if isinstance(expression, Unary):
        return expression.op == "not"
    return isinstance(expression, Binary) and expression.op in ("&&", "||")


# --- from the tree to rules -------------------------------------------------


def rules_of(source: Source, file: str) -> Job[Rules]:
    """Find the rules of a program.

    Raises
    ------
    InputError
        The program is not made of rules as the challenge's are; names the line.
    """
    lowering = _Lowering(source, file)
    ticks = Ticks(READING, 30.0)
    first = source.functions[STEP][:1]
    if not any(_sets_flag(statement, 1) for statement in first):
        message = f"expected 'cf = 1;' at the beginning of {STEP}"
        raise InputError(message, file=file, line=first[0].line if first else None)
    for rule in lowering.walk(source.functions[STEP], (), 0):
        if rule is not None:
            lowering.found.append(rule)
        yield from ticks.worked()
    rules = (*lowering.errors, *lowering.found)
    if len(source.inputs) > MOST_INPUTS:
        message = f"{len(source.inputs)} inputs, expected at most {MOST_INPUTS}"
        raise InputError(message, file=file)
    n_outputs = len({rule.output for rule in rules})
    if n_outputs > MOST_OUTPUTS:
        message = f"{n_outputs:,} outputs, expected at most {MOST_OUTPUTS:,}"
        raise InputError(message, file=file)
    if not lowering.found:
        raise InputError("no rule found: expected 'if(...) {cf = 0; ...}'", file=file)
    return Rules(source, rules)


class _Lowering:
    """The walk through the functions of a program."""

    def __init__(self, source: Source, file: str) -> None:
        self._source = source
        self._file = file
        self._known: dict[int, list[Expression]] = {}  # conjuncts, by id
        self._literals: dict[int, tuple[int, Spans] | None] = {}  # by id, too
        self._last: Fail | If | None = None  # an error behind some rule
        self.found: list[Rule] = []
        self.errors: list[Rule] = []

    def _error(self, message: str, line: int) -> InputError:
        return InputError(message, file=self._file, line=line)

    def walk(
        self, statements: Sequence[Statement], outer: tuple[If, ...], depth: int
    ) -> Iterator[Rule | None]:
        """Yield the rules among statements inside of some conditions, in order.

        Yields None at each call: functions without rules may call each other often.
        """
        for number, statement in enumerate(statements):
            if isinstance(statement, Call):
                if depth == _DEEPEST:
                    raise self._error("calls of functions go round", statement.line)
                called = self._source.functions.get(statement.function)
                if called is None:
                    message = f"function {statement.function!r} is not defined"
                    raise self._error(message, statement.line)
                yield None
                yield from self.walk(called, outer, depth + 1)
            elif isinstance(statement, Assign):
                begins = not (outer or depth or number)
                if not (begins and _sets_flag(statement, 1)):
                    raise self._error("an assignment outside of a rule", statement.line)
            elif isinstance(statement, Fail):
                self._ends(statement, outer)
            elif isinstance(statement, Refuse):
                if depth or not outer:
                    raise self._error("an input is refused too early", statement.line)
            elif isinstance(statement, Print):
                raise self._error("an output outside of a rule", statement.line)
            elif self._ends_always(statement):
                self._ends(statement, (*outer, statement))
            elif any(_sets_flag(s, 0) for s in statement.then):
                yield self._rule(statement, outer)
            elif statement.otherwise:
                raise self._error("'else' outside of a rule", statement.line)
            else:
                yield from self.walk(statement.then, (*outer, statement), depth)

    def _rule(self, given: If, outer: tuple[If, ...]) -> Rule:
        if self._last is not None:
            message = f"an error between rules: there is one in line {given.line}, too"
            raise self._error(message, self._last.line)
        if given.otherwise:
            raise self._error("a rule with 'else'", given.line)
        own = self._conjuncts(given.condition)
        if not any(map(_asks_flag, own)):
            raise self._error("a rule whose guard does not ask for cf == 1", given.line)
        body = [s for s in given.then if not _sets_flag(s, 0)]
        printed = [s for s in body if isinstance(s, Print)]
        ended = [isinstance(s, Fail) for s in body if isinstance(s, (Print, Fail))]
        ends = any(ended)
        if ends and not ended[0]:
            raise self._error("an output before an error in a rule", given.line)
        if not ends and len(printed) != 1:
            message = f"a rule with {len(printed)} outputs, expected one"
            raise self._error(message, given.line)
        body = [s for s in body if not isinstance(s, (Print, Fail))]
        self._check(body)
        output, line = (ERROR, given.line) if ends else printed[0]
        return self._guarded((*outer, given), body, output, line)

    def _ends_always(self, statement: If) -> bool:
        """Whether a statement ends the run, whatever rule has fired before."""
        fails = [s for s in statement.then if isinstance(s, Fail)]
        rest = [s for s in statement.then if not _sets_flag(s, 0)]
        asks = any(map(_asks_flag, self._conjuncts(statement.condition)))
        return bool(fails) and rest == fails and not asks and not statement.otherwise

    def _ends(self, given: Fail | If, outer: tuple[If, ...]) -> None:
        """Take up a condition under which the program ends.

        It is one of the state, as if it were looked at behind every rule: so it must
        come before all rules, or behind all.
        """
        if any(_mentions(each.condition, (INPUT, FLAG)) for each in outer):
            message = "an error outside of a rule that depends on the input or on cf"
            raise self._error(message, given.line)
        found = self._guarded(outer, (), ERROR, given.line)
        if all(evaluate(each.condition, self._source.initial) for each in outer):
            raise self._error("the first state is one of errors", given.line)
        self.errors.append(found)
        if self.found:
            self._last = given

    def _check(self, body: Sequence[Statement]) -> None:
        for statement in statements_in(body):
            if isinstance(statement, If):
                if _mentions(statement.condition, (FLAG,)):
                    raise self._error("cf inside of a rule", statement.line)
            elif not isinstance(statement, Assign):
                message = "expected assignments and 'if' inside of a rule"
                raise self._error(message, statement.line)
            elif statement.variable == FLAG or _mentions(statement.value, (FLAG,)):
                raise self._error("cf inside of a rule", statement.line)

    def _guarded(
        self,
        conditions: Sequence[If],
        body: Sequence[Statement],
        output: int,
        line: int,
    ) -> Rule:
        """Return the rule whose guard is that all conditions hold."""
        known: dict[int, Spans] = {}
        others: list[Expression] = []
        for each in conditions:
            for part in self._conjuncts(each.condition):
                if _asks_flag(part):
                    continue
                if _mentions(part, (FLAG,)):
                    raise self._error(
                        "expected cf == 1 as all there is on cf", each.line
                    )
                literal = self._literal(part)
                if literal is not None:
                    variable, spans = literal
                    known[variable] = _both(known.get(variable, _ALL), spans)
                elif INPUT in reads(part):
                    message = "a condition on the input and on other variables"
                    raise self._error(message, each.line)
                elif may_fail(part):
                    message = "a guard whose value might be lacking (division, index)"
                    raise self._error(message, each.line)
                else:
                    others.append(part)
        taken = known.pop(INPUT, _ALL)
        inputs = tuple(
            number
            for number, value in enumerate(self._source.inputs)
            if _both(taken, ((value, value),))
        )
        literals = tuple(sorted(known.items()))
        return Rule(inputs, literals, tuple(others), tuple(body), output, line)

    def _conjuncts(self, condition: Expression) -> list[Expression]:
        found = self._known.get(id(condition))
        if found is None:
            found, todo = [], [condition]
            while todo:
                node = todo.pop()
                if isinstance(node, Binary) and node.op == "&&":
                    todo += [node.right, node.left]
                else:
                    found.append(node)
            self._known[id(condition)] = found
        return found

    def _literal(self, condition: Expression) -> tuple[int, Spans] | None:
        if id(condition) not in self._literals:
            self._literals[id(condition)] = simple(condition, self._source)
        return self._literals[id(condition)]


def _sets_flag(statement: Statement, value: int) -> bool:
    return (
        isinstance(statement, Assign)
        and statement.variable == FLAG
        and isinstance(statement.value, Number)
        and statement.value.value == value
    )


def _asks_flag(condition: Expression) -> bool:
    """Whether a condition is ``cf == 1``."""
    if not (isinstance(condition, Binary) and condition.op == "=="):
        return False
    left, right = condition.left, condition.right
    if isinstance(left, Number):
        left, right = right, left
    if not (isinstance(left, Read) and isinstance(right, Number)):
        return False
    return left.variable == FLAG and right.value == 1


def _mentions(expression: Expression, variables: Sequence[int]) -> bool:
    return not reads(expression).isdisjoint(variables)


def outputs_of(rules: Rules) -> list[int]:
    """Return all that the rules print, in order."""
    return sorted({rule.output for rule in rules.rules} - {ERROR})
