"""Effects of a step on a row, as Python source: words, fields and assignments.

The values that variables have at a point of a step are kept as text.  What is assigned
waits until the row is written, so that all fields of a word are put together at
once; only access to an array by an index that is not constant needs the words as they
are by then.

Expressions become source over the words of a row.  All numbers are 64-bit signed
integers: words are read as such, and bits are the same.  Operators are wrapped to 32
bits, indices tested and divisions rounded towards zero only where `Ranges` cannot show
that there is no need.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs.program import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Conditional,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
    is_truth,
    parts,
)
from ltlpipe.systems.programs.ranges import ALL, MAX, MIN, Interval

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ltlpipe.systems.programs.program import Expression, Program
    from ltlpipe.systems.programs.ranges import Chunk, Layout, Ranges

# How closely Python binds its operators; comparisons never chain, being in brackets.
_OR, _AND, _NOT, _COMPARE = 1, 2, 3, 4
_LEVELS = {"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10}
_TIMES, _SIGN, _ATOM = 10, 11, 13


MAX_LENGTH = 1 << 21
"""Characters of source beyond which a model is refused: Numba would take minutes."""


@dataclass
class Blueprint:
    """The input of code generation, and how much has been written.

    Raises
    ------
    UnsupportedError
        More than `MAX_LENGTH` is written.
    """

    program: Program
    ranges: Ranges
    layout: Layout
    names: Sequence[str]  # what the code calls each variable
    length: int = 0
    helpers: dict[str, str] = field(default_factory=dict)  # functions by their names

    def count(self, text: str) -> None:
        """Count some text."""
        self.length += len(text)
        if self.length > MAX_LENGTH:
            raise UnsupportedError(
                f"{self.program.name}: the steps take more than {MAX_LENGTH} "
                "characters of generated source, the limit: make the model smaller"
            )


class Source:
    """Lines of Python, with the names that they use."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.lines: list[str] = []
        self.indent = 1  # levels of the next line
        self._temporaries = 0

    def line(self, text: str) -> None:
        """Append a line at the current level."""
        self.lines.append("    " * self.indent + text)
        self.blueprint.count(self.lines[-1])

    def temporary(self) -> str:
        """Return a name that is not in use."""
        self._temporaries += 1
        return f"t{self._temporaries}"


class Loaded:
    """The variables of the row that a part of the code reads, each once, by name."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.names = blueprint.names
        self.layout = blueprint.layout
        self.timeout = blueprint.program.timeout
        self.used: dict[int, None] = {}

    def read(self, variable: int) -> str:
        """Return the value that a variable has in the row."""
        if variable == self.timeout:
            return "timeout"
        place = self.layout.places[variable]
        if not place.bits:
            return _constant(place.low)
        self.used[variable] = None
        return self.names[variable]

    def write(self, source: Source) -> None:
        """Write the assignments that load what has been read."""
        for variable in sorted(self.used):
            value = extracted(self.layout, variable)
            source.line(f"{self.names[variable]} = {value}")


def extracted(layout: Layout, variable: int, words: Sequence[str] | None = None) -> str:
    """Return the value of a variable in words, ``w0`` and so on by default."""
    place = layout.places[variable]
    word = f"w{place.word}" if words is None else words[place.word]
    text = f"({word} >> {place.shift})" if place.shift else word
    return _plus(f"{text} & {place.mask}", place.low)


class Outcome:
    """The row that a step leads to, as far as it has been computed.

    Lines go to `source`; `loaded` has the values in the row that the step leaves.
    Expressions become text: values are names, numbers or in brackets.
    """

    def __init__(self, blueprint: Blueprint, source: Source, loaded: Loaded) -> None:
        self.blueprint = blueprint
        self.layout = blueprint.layout
        self.source = source
        self.loaded = loaded
        self.words = [f"w{i}" for i in range(self.layout.n_words)]
        self._values: dict[int, str] = {}  # assigned, or read from changed words
        self._waiting: dict[int, str] = {}  # assigned, but not yet in the words
        self._stale: set[int] = set()  # elements that have changed in the words

    def read(self, variable: int) -> str:
        """Return the current value of a variable."""
        if variable in self._values:
            return self._values[variable]
        if variable not in self._stale or not self.layout.places[variable].bits:
            return self.loaded.read(variable)
        return f"({extracted(self.layout, variable, self.words)})"

    def read_element(self, first: int, size: int, index: str) -> str:
        """Return the current value of an element of an array."""
        bits, low = self.layout.places[first].bits, self.layout.places[first].low
        if not bits:
            return _constant(low)
        self._write_waiting(range(first, first + size))
        chunks = self.layout.chunks[first]
        words = {f"w{chunk.word}": self.words[chunk.word] for chunk in chunks}
        if len(chunks) == 1 or index.isidentifier():
            return f"({_plus(_chosen(chunks, bits, index, self.words), low)})"
        # The text of an index would be repeated for each chunk, and so would an index
        # inside.  Numba 0.68 compiles no assignment within an expression.
        name = f"element_{first}"
        if name not in self.blueprint.helpers:
            own = [f"w{number}" for number in range(self.layout.n_words)]
            lines = [
                "@called",
                f"def {name}(index, {', '.join(words)}):",
                f'    """Return an element behind {self.blueprint.names[first]}."""',
                f"    return {_plus(_chosen(chunks, bits, 'index', own), low)}",
            ]
            self.blueprint.helpers[name] = "\n".join(lines) + "\n"
        return f"{name}({index}, {', '.join(words.values())})"

    def assign(self, target: Read | Element, value: str) -> None:
        """Assign a value that is in the target's range."""
        if isinstance(target, Read):
            self.set(target.variable, value)
        else:
            self._store(target.first, target.size, self.value(target.index), value)

    def set(self, variable: int, value: str) -> None:
        """Assign to a variable by its number."""
        self._values[variable] = self._waiting[variable] = self.named(value)

    def converted(self, expression: Expression, bounds: tuple[int, int]) -> str:
        """Return the value of an expression as a variable with some bounds holds it."""
        low, high = bounds
        interval = self.interval(expression)
        text = self.value(expression)
        if low <= interval.low and interval.high <= high:
            return text
        if low == 0:
            return f"({text}) & {high}"
        return f"((({text}) + {-low}) & {high - low}) - {-low}"

    def named(self, value: str) -> str:
        """Return a name or number for a value, after a line that computes it."""
        if value.isidentifier() or _is_number(value):
            return value
        name = self.source.temporary()
        self.source.line(f"{name} = {value}")
        return name

    def _store(self, first: int, size: int, index: str, value: str) -> None:
        """Assign to an element of an array; `index` is in its range."""
        index = self.named(index)
        bits, low = self.layout.places[first].bits, self.layout.places[first].low
        elements = range(first, first + size)
        if not bits:
            return
        stored = self.named(_plus(value, -low))
        self._write_waiting(elements)
        chunks = self.layout.chunks[first]
        for number, chunk in enumerate(chunks):
            at = self.named(_shift(chunk.shift, bits, chunk.first, index))
            old = self.words[chunk.word]
            # Plain Python, in which kernels can run, has no integers that wrap.
            mask, put = f"np.int64({(1 << bits) - 1})", f"np.int64({stored})"
            new = f"({old} & ~({mask} << {at})) | ({put} << {at})"
            if len(chunks) > 1:
                inside = f"{index} < {chunk.first + chunk.size}"
                if number:
                    inside = f"{index} >= {chunk.first} and {inside}"
                # The shift of an element elsewhere may be anything: it is not used.
                new = f"({new}) if {inside} else {old}"
            self.words[chunk.word] = self.named(new)
        for element in elements:
            self._values.pop(element, None)
            self._stale.add(element)

    def _write_waiting(self, variables: range) -> None:
        """Put assignments to some variables into the words."""
        for variable in variables:
            if variable in self._waiting:
                word = self.layout.places[variable].word
                self.words[word] = self.named(self._combined(word, variables))

    def _combined(self, word: int, variables: Container[int]) -> str:
        """Return a word with what is waiting of some variables, which waits no more.

        A value that another one may yet replace need not fit into its field, unless
        it is an element of an array (see `Ranges`): only those are written early.
        """
        keep, constant, parts = (1 << 64) - 1, 0, []
        for variable, value in list(self._waiting.items()):
            place = self.layout.places[variable]
            if place.word != word or variable not in variables:
                continue
            del self._waiting[variable]
            self._stale.add(variable)
            if not place.bits:
                continue
            keep &= ~(place.mask << place.shift)
            if _is_number(value):
                # In a step that is never taken the value may be out of the range.
                offset = (int(value) - place.low) & place.mask
                constant |= offset << place.shift
                continue
            text = _plus(value, -place.low)
            parts.append(
                f"(np.int64({text}) << {place.shift})" if place.shift else f"({text})"
            )
        old = self.words[word]
        if keep == (1 << 64) - 1:
            return old
        text = " | ".join([f"({old} & {_signed(keep)})", *parts])
        return f"{text} | {_signed(constant)}" if constant else text

    def final_words(self) -> list[str]:
        """Return the words of the row that the step leads to."""
        everything = range(len(self.layout.places))
        return [self._combined(word, everything) for word in range(len(self.words))]

    def value(self, expression: Expression) -> str:
        """Return the value of an expression as an integer."""
        return self._value(expression)[0]

    def truth(self, expression: Expression) -> str:
        """Return whether an expression is not 0 as a truth value."""
        return self._truth(expression)[0]

    def fails(self, expression: Expression) -> str | None:
        """Return whether evaluating an expression fails; None if it never does."""
        found = self._fails(expression)
        return None if found is None else found[0]

    def interval(self, expression: Expression) -> Interval:
        """Return the interval of an expression's value."""
        known = self.blueprint.ranges.nodes.get(expression, ALL)
        return known if known.low >= MIN and known.high <= MAX else ALL

    def _value(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, Number):
            level = _ATOM if expression.value >= 0 else _SIGN
            return str(expression.value), level
        if isinstance(expression, Read):
            return self.read(expression.variable), _ATOM
        if isinstance(expression, Element):
            index = self.value(expression.index)
            text = self.read_element(expression.first, expression.size, index)
            return text, _ATOM
        if isinstance(expression, Lookup):
            return f"{expression.values}[{self.value(expression.index)}]", _ATOM
        if is_truth(expression):
            return f"np.int64({self.truth(expression)})", _ATOM
        if isinstance(expression, Unary):
            text = expression.op + self._operand(expression.operand, _SIGN)
            return self._wrapped(expression, text, _SIGN)
        if isinstance(expression, Conditional):
            test = self._part(expression.test, _OR)
            yes, no = self.value(expression.yes), self.value(expression.no)
            return f"(({yes}) if {test} else ({no}))", _ATOM
        if expression.op in ("/", "%"):
            return self._quotient(expression.op, expression.left, expression.right)
        level = _LEVELS[expression.op]
        left = self._operand(expression.left, level)
        shifts = self.interval(expression.right)
        is_shift = expression.op in ("<<", ">>")
        if is_shift and (shifts.low < 0 or shifts.high > 31):
            right = f"({self._operand(expression.right, _LEVELS['&'])} & 31)"
        else:
            right = self._operand(expression.right, level + 1)
        text = f"{left} {expression.op} {right}"
        return self._wrapped(expression, text, level)

    def _operand(self, expression: Expression, level: int) -> str:
        text, own = self._value(expression)
        return text if own >= level else f"({text})"

    def _wrapped(self, node: Expression, text: str, level: int) -> tuple[str, int]:
        known = self.blueprint.ranges.nodes.get(node, Interval(MIN - 1, MAX))
        if known.low >= MIN and known.high <= MAX:
            return text, level
        return f"wrapped({text})", _ATOM

    def _quotient(
        self, op: str, left: Expression, right: Expression
    ) -> tuple[str, int]:
        if self.interval(left).low < 0 or self.interval(right).low < 0:
            name = "divided" if op == "/" else "remainder"
            return f"{name}({self.value(left)}, {self.value(right)})", _ATOM
        sign = "//" if op == "/" else "%"
        dividend = self._operand(left, _TIMES)
        return f"{dividend} {sign} {self._operand(right, _TIMES + 1)}", _TIMES

    def _truth(self, expression: Expression) -> tuple[str, int]:
        if isinstance(expression, Number):
            return str(expression.value != 0), _ATOM
        if isinstance(expression, Unary) and expression.op == "not":
            return f"not {self._part(expression.operand, _NOT)}", _NOT
        if not is_truth(expression) or isinstance(expression, Unary):
            return f"{self._operand(expression, _COMPARE + 1)} != 0", _COMPARE
        assert not isinstance(expression, (Read, Element, Lookup, Conditional))
        if expression.op in COMPARISONS:
            left = self._operand(expression.left, _COMPARE + 1)
            right = self._operand(expression.right, _COMPARE + 1)
            return f"{left} {expression.op} {right}", _COMPARE
        if expression.op == "&&":
            left = self._part(expression.left, _AND)
            return f"{left} and {self._part(expression.right, _AND)}", _AND
        if expression.op == "imply":
            left = f"not {self._part(expression.left, _NOT)}"
        else:
            left = self._part(expression.left, _OR)
        return f"{left} or {self._part(expression.right, _OR)}", _OR

    def _part(self, expression: Expression, level: int) -> str:
        text, own = self._truth(expression)
        return text if own >= level else f"({text})"

    def _fails(self, expression: Expression) -> tuple[str, int] | None:
        if isinstance(expression, (Element, Lookup)):
            outside = None
            if expression in self.blueprint.ranges.failing:
                index = self._operand(expression.index, _COMPARE + 1)
                outside = f"({index} < 0 or {index} >= {expression.size})", _ATOM
            return _some(self._fails(expression.index), outside)
        if isinstance(expression, Conditional):
            return self._fails_either(expression)
        if not isinstance(expression, Binary):
            operands = parts(expression)
            return self._fails(operands[0]) if operands else None
        left, right = map(self._fails, parts(expression))
        if expression.op in LOGICAL:
            if right is not None:
                reached = self._part(expression.left, _NOT)
                if expression.op == "||":
                    reached = f"not {reached}"
                inner = right[0] if right[1] >= _AND else f"({right[0]})"
                right = f"{reached} and {inner}", _AND
            return _some(left, right)
        found = _some(left, right)
        if expression in self.blueprint.ranges.failing:
            divisor = self._operand(expression.right, _COMPARE + 1)
            found = _some(found, (f"{divisor} == 0", _COMPARE))
        return found

    def _fails_either(self, expression: Conditional) -> tuple[str, int] | None:
        found = self._fails(expression.test)
        test = self._part(expression.test, _NOT)
        for value, reached in ((expression.yes, test), (expression.no, f"not {test}")):
            inner = self._fails(value)
            if inner is not None:
                text = inner[0] if inner[1] >= _AND else f"({inner[0]})"
                found = _some(found, (f"{reached} and {text}", _AND))
        return found


def _some(
    a: tuple[str, int] | None, b: tuple[str, int] | None
) -> tuple[str, int] | None:
    if a is None or b is None:
        return b if a is None else a
    return f"{a[0]} or {b[0]}", _OR


def _chosen(
    chunks: Sequence[Chunk], bits: int, index: str, words: Sequence[str]
) -> str:
    """Return the field of an element in the chunk where its index lies, by halves."""
    if len(chunks) == 1:
        (chunk,) = chunks
        at = _shift(chunk.shift, bits, chunk.first, index)
        return f"({words[chunk.word]} >> {at}) & {(1 << bits) - 1}"
    half = len(chunks) // 2
    low, high = (
        _chosen(part, bits, index, words) for part in (chunks[:half], chunks[half:])
    )
    return f"({low} if {index} < {chunks[half].first} else {high})"


def _shift(shift: int, bits: int, first: int, index: str) -> str:
    """Return where the field of an element begins."""
    if index.isdigit():
        return str(shift + bits * (int(index) - first))
    text = index if index.isidentifier() else f"({index})"
    offset = shift - first * bits
    if bits == 1 and not offset:
        return text
    text = text if bits == 1 else f"{text} * {bits}"
    sign = "+" if offset > 0 else "-"
    return f"({text} {sign} {abs(offset)})" if offset else f"({text})"


def _constant(number: int) -> str:
    return str(number) if number >= 0 else f"({number})"


def _is_number(text: str) -> bool:
    """Whether a value is a constant, such as ``-3``."""
    return text.removeprefix("-").isdigit()


def _plus(value: str, number: int) -> str:
    """Return a sum, as it is written."""
    if not number:
        return value
    if _is_number(value):
        return str(int(value) + number)
    return f"({value}) {'+' if number > 0 else '-'} {abs(number)}"


def _signed(word: int) -> int:
    """Return the signed number with the bits of a word."""
    return word - (1 << 64) if word >> 63 else word
