"""A program of the RERS challenge as a tree, and what it does, in plain Python.

A program reads an input, at most one of its rules fires and prints an output, and so
on.  Expressions are those of `ltlpipe.systems.programs.program`; variable `INPUT` is
the input of the step, `FLAG` is ``cf``, which the first rule that fires sets to 0.  A
pointer is the number of the array that it points to.

Arithmetic is that of 32-bit integers in C, and wraps round where C leaves open what an
overflow does.  Where C leaves open what happens, on a division by zero and an index out
of range, the run ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.systems.programs.program import EvaluationError, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.systems.programs.program import Expression

INPUT, FLAG = 0, 1
"""The numbers of two variables that are no part of a state."""

_ENDED = -1  # the flag's value behind an error

N_OWN = 2
"""The first number of a variable of the program's own."""

ERROR = -1
"""The output of a rule that ends the run."""

_ERROR = "an error of the program"

STEP = "calculate_output"
"""The function that makes one step."""


class Assign(NamedTuple):
    """``variable = value;``."""

    variable: int
    value: Expression
    line: int


class If(NamedTuple):
    """``if(condition) {then} else {otherwise}``."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    line: int


class Call(NamedTuple):
    """``function(input);``."""

    function: str
    line: int


class Print(NamedTuple):
    """``printf`` of a number."""

    number: int
    line: int


class Refuse(NamedTuple):
    """``fprintf`` to ``stderr``: no rule has taken the input."""

    line: int


class Fail(NamedTuple):
    """``__VERIFIER_error(n);``, the end of the run."""

    line: int


Statement: TypeAlias = Assign | If | Call | Print | Refuse | Fail


def statements_in(body: Sequence[Statement]) -> Iterator[Statement]:
    """Yield statements, and those inside of them, in the order of the text."""
    for statement in body:
        yield statement
        if isinstance(statement, If):
            yield from statements_in((*statement.then, *statement.otherwise))


class Variable(NamedTuple):
    """A global variable that is no array."""

    name: str
    initial: int
    arrays: tuple[str, ...] = ()  # of a pointer: those that it can point to


class RunEndedError(Exception):
    """The program has ended: by an error, or a computation without a result."""


@dataclass(frozen=True, eq=False)
class Source:
    """A program as it was read.

    Parameters
    ----------
    name : str
        Of its file.
    variables : tuple of Variable
        Those of `INPUT` and `FLAG` first.
    inputs : tuple of int
        In the order of the program.
    functions : mapping
        The statements of each function.
    """

    name: str
    variables: tuple[Variable, ...]
    inputs: tuple[int, ...]
    functions: Mapping[str, tuple[Statement, ...]]

    @property
    def initial(self) -> list[int]:
        """The values of all variables before the first step."""
        return [variable.initial for variable in self.variables]

    @cached_property
    def n_conditions(self) -> int:
        """How many ``if`` there are."""
        bodies = map(statements_in, self.functions.values())
        return sum(isinstance(s, If) for body in bodies for s in body)

    def step(self, values: list[int], given: int) -> int | None:
        """Make a step, which changes `values`.

        Returns the output, or None if no rule takes the input.

        Raises
        ------
        RunEndedError
            The run ends in this step; or with the one before, behind its output.
        """
        if values[FLAG] == _ENDED:
            raise RunEndedError(_ERROR)
        values[INPUT] = given
        printed: list[int] = []
        try:
            self._run(self.functions[STEP], values, printed)
        except EvaluationError as error:
            raise RunEndedError(str(error)) from None
        except RunEndedError:
            if not printed:
                raise
            values[FLAG] = _ENDED
        return printed[0] if printed else None

    def _run(
        self, statements: Sequence[Statement], values: list[int], printed: list[int]
    ) -> None:
        for statement in statements:
            if isinstance(statement, If):
                holds = evaluate(statement.condition, values)
                branch = statement.then if holds else statement.otherwise
                self._run(branch, values, printed)
            elif isinstance(statement, Assign):
                values[statement.variable] = evaluate(statement.value, values)
            elif isinstance(statement, Call):
                self._run(self.functions[statement.function], values, printed)
            elif isinstance(statement, Print):
                printed.append(statement.number)
            elif isinstance(statement, Fail):
                raise RunEndedError(_ERROR)


def letter(number: int) -> str:
    """Return what the challenge calls input or output `number`: 1 is A.

    Examples
    --------
    >>> letter(1), letter(26), letter(27)
    ('A', 'Z', '27')
    """
    return chr(64 + number) if 1 <= number <= 26 else str(number)


def input_name(number: int) -> str:
    """Return the action of an input."""
    return f"i{letter(number)}"


def output_name(number: int) -> str:
    """Return the action of an output."""
    return f"o{letter(number)}"
