r"""From text to expressions, and from formulas about states to Spot's formulas.

A formula is LTL in Spot's spelling whose propositions are comparisons, names and
calls; ``not``, ``and``, ``or`` and ``imply`` are read, too.  Comparisons bind tighter
than ``!``.  An operator letter that stands where only a name can (``X <= 0``,
``(U) < 3``) is a name.  Any character behind a backslash is part of a name (``a\-b``,
``p\[``); but ``t\[1\]`` is ``t[1]``, be it a name or an element of an array.

Formulas without comparisons are read here, too, where they have what Spot does not
read: bounds of until, past operators, and operator letters as names.  Then what stands
in quotes is a name, as it is for Spot.

The propositions of Spot's formula are named by the text of the expressions, which
`parse_proposition` reads again; ``a != b`` is the negation of ``a==b``, and ``a > b``
is ``b<a``, so that a fact and its opposite are one proposition.

The grammar is ``grammar.lark``; with past operators it is another one, as without them
their letters are names everywhere.
"""

from __future__ import annotations

import re
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any

from lark import Transformer, Tree, UnexpectedInput, v_args
from lark.exceptions import VisitError
from lark.visitors import Transformer_NonRecursive

from ltlpipe.logic.bounded import OF_COMPARISON, OF_ONE, OF_TWO, bounds_of, expanded
from ltlpipe.logic.history import PAST, PREFIX, remembered
from ltlpipe.logic.propositions.syntax import (
    KEYWORDS,
    MAX_DIGITS,
    Call,
    Element,
    Expression,
    Name,
    Number,
    Operation,
    Path,
    Remote,
    Text,
    compared,
    given_parts,
    joined,
    negative,
)
from ltlpipe.runtime.errors import FormulaError
from ltlpipe.runtime.folders import grammar_beside, parser_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Lark, Token

    from ltlpipe.logic.history import Dialect, History

    Refusal = Callable[[str, int | None], FormulaError]

_GRAMMAR = grammar_beside(__file__)

TERMINALS = {
    "RELATION": "a comparison",
    "UNTIL": "'U'",
    "_AND": "'&&'",
    "_OR": "'||'",
    "SIGN": "'+'",
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "LPAR": "'('",
    "RPAR": "')'",
    "RSQB": "']'",
    "$END": "the end",
}
"""What messages call the terminals that can be expected."""


@cache
def parser(
    rules: type[Transformer[Any, Any]] | None,
    *,
    past: bool = False,
    compares: bool = True,
) -> Lark:
    """Return the parser, which applies some rules or, without, makes a tree.

    Names begin as in Spot if the formula `compares` nothing.
    """
    text = _GRAMMAR
    for name, pattern in {
        "UNARY": "XFGHOYZ" if past else "XFG",
        "BINARY": "UWRVMST" if past else "UWRVM",
        "BOUNDED_UNTIL": OF_TWO,
        "BOUNDED": OF_COMPARISON if compares else OF_ONE,
        "GLUED": "" if compares else r"|[XFG](?=[A-Za-z_.])",
        "BEGIN": "[A-Za-z_]" if compares else r"[A-Za-z_.]",
        "DOT": "" if compares else r"|\.",
    }.items():
        text = text.replace(f"@{name}@", pattern.replace("/", r"\/"))
    return parser_of(
        text,
        ("past" if past else "formulas") + ("" if compares else "-of-names"),
        start="formula",
        transformer=None if rules is None else rules(),
        maybe_placeholders=False,
    )


_ELEMENT = re.compile(
    rf"(?<=\w)\\\[(?!(?:{'|'.join(KEYWORDS)})\\)([A-Za-z_]\w*|0|[1-9][0-9]*)\\\]"
    r"(?![\w\\])"
)
_NESTING = re.compile(r"[(\[]")

MAX_NESTING = 10_000
"""Brackets and operators before an operand that a formula may have."""

MAX_DEPTH = 250
"""Operators inside each other that a proposition may have."""

_TOO_DEEP = f"more than {MAX_DEPTH} operators inside each other in a proposition"


def parse_proposition(text: str) -> Expression:
    """Return the expression that a proposition such as ``P_1=='CS'`` is.

    Raises
    ------
    FormulaError
        With the position of the first error.
    """
    refusal = _refusal(text)
    expression: Expression = _parsed(text, parser(_Propositions), refusal)
    try:
        _refuse_deep(expression)
    except FormulaError as error:
        raise refusal(error.message, None) from None
    return expression


def boolean_formula(text: str) -> Any:
    """Return a proposition as a Spot formula over the comparisons that it combines.

    Raises
    ------
    FormulaError
        With the position of the first error.
    """
    return parse_formula(text, _refusal(text))


def _refusal(text: str) -> Refusal:
    def refusal(message: str, position: int | None) -> FormulaError:
        message = f"no proposition about states: {message}"
        return FormulaError(message, formula=text, position=position)

    return refusal


def parse_formula(text: str, refusal: Refusal) -> Any:
    """Return the Spot formula of LTL over comparisons, names and calls.

    Its propositions are texts for `parse_proposition`.  Errors are what `refusal` makes
    of a message and a position.
    """
    return _with_quotes(text, parser(_Formulas), refusal)


def parse_dialect(
    text: str, refusal: Refusal, dialect: Dialect, *, compares: bool
) -> tuple[Any, tuple[History, ...]]:
    """Return a formula with past operators, or one of finite words.

    Past subformulas are propositions of the Spot formula, which the history explains.
    If it `compares` nothing, what stands in quotes is a name.
    """
    reader = parser(None, past=dialect.past, compares=compares)
    tree = _with_quotes(text, reader, refusal)
    rules = _Dialect(dialect, compares=compares)
    try:
        return formula_of(rules.transform(tree)), tuple(rules.history)
    except VisitError as error:
        if isinstance(error.orig_exc, _QuotedError):
            raise _of_quotes(text, error.orig_exc, refusal) from None
        if isinstance(error.orig_exc, FormulaError):
            found = error.orig_exc
            raise refusal(found.message, _place(text, found.position)) from None
        raise error.orig_exc from None


def _with_quotes(text: str, parser: Lark, refusal: Refusal) -> Any:
    """Return what a parser makes of a formula."""
    try:
        found = _parsed(text, parser, refusal)
        return found if isinstance(found, Tree) else formula_of(found)
    except _QuotedError as error:
        raise _of_quotes(text, error, refusal) from None


def _of_quotes(text: str, error: _QuotedError, refusal: Refusal) -> FormulaError:
    """Return the error of a text in quotes as one of the formula."""
    place = text.find(error.formula)
    if place >= 0 and error.formula:
        place += error.position or 0
    return refusal(error.message, place if place >= 0 else None)


def formula_of(part: Any) -> Any:
    """Return a part of a formula as a Spot formula; expressions are propositions."""
    import spot

    if isinstance(part, Expression):
        _refuse_deep(part)
    if isinstance(part, Number):
        return spot.formula_tt() if part.value else spot.formula_ff()
    if isinstance(part, Operation) and part.operator == "!":
        return spot.formula_Not(formula_of(part.operands[0]))
    if isinstance(part, Text):
        return formula_of(_quoted(part.value))
    return spot.formula_ap(str(part)) if isinstance(part, Expression) else part


def _expression_of(part: Any, depth: int = 0) -> Any:
    """Return a Boolean formula of Spot as the expression that is 1 where it is true.

    One with operators of the future or the past stays what it is.
    """
    if isinstance(part, Expression) or not part.is_boolean():
        return part
    if depth > MAX_DEPTH:
        raise _misplaced(_TOO_DEEP, None)
    kind = part.kindstr()
    if kind in ("tt", "ff"):
        return Number(int(kind == "tt"))
    if kind == "ap":
        name = part.ap_name()
        return part if name.startswith(PREFIX) else parse_proposition(name)
    operands = [_expression_of(each, depth + 1) for each in part]
    if not all(isinstance(operand, Expression) for operand in operands):
        return part
    if kind in ("And", "Or"):
        return reduce(partial(joined, "&&" if kind == "And" else "||"), operands)
    names = {"Not": "negation", "Implies": "implies", "Equiv": "iff", "Xor": "xor"}
    return getattr(_Propositions(), names[kind])(*operands)


def _refuse_deep(expression: Expression) -> None:
    """Refuse an expression through which a recursive walk would not come."""
    waiting: list[tuple[Any, int]] = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise _misplaced(_TOO_DEEP, None)
        waiting += [(part, depth + 1) for part in given_parts(node)]


def _quoted(text: str) -> Expression:
    """Return the proposition that stands in quotes in a formula."""
    try:
        return parse_proposition(text)
    except FormulaError as error:
        raise _QuotedError(
            error.message, formula=text, position=error.position
        ) from None


def _parsed(text: str, parser: Lark, refusal: Refusal) -> Any:
    if len(_NESTING.findall(text)) > MAX_NESTING:
        raise refusal(f"more than {MAX_NESTING:,} brackets", None)
    try:
        return parser.parse(_ELEMENT.sub(r"[\1]", text))
    except _QuotedError:
        raise
    except FormulaError as error:
        raise refusal(error.message, _place(text, error.position)) from None
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        at_end = token is not None and token.type == "$END"
        place = _place(text, None if at_end else error.pos_in_stream)
        found = "the end" if place >= len(text) else repr(text[place])
        raise refusal(f"{found}, expected {_expected(error)}", place) from None


def _place(text: str, position: int | None) -> int:
    """Return where in `text` lies what is at `position` without its escapes."""
    if position is None or position < 0:
        return len(text)
    for found in _ELEMENT.finditer(text):
        for backslash in (found.start(), found.end() - 2):
            position += backslash < position
    return min(position, len(text))


def _expected(error: UnexpectedInput) -> str:
    terminals = getattr(error, "accepts", None) or getattr(error, "allowed", None)
    known = [name for t, name in TERMINALS.items() if t in (terminals or ())]
    return " or ".join(known) or "an operand"


class _QuotedError(FormulaError):
    """A text in quotes is no proposition."""


@v_args(inline=True)
class _Propositions(Transformer):  # type: ignore[type-arg]
    """What the rules mean in a proposition: expressions."""

    def number(self, token: Token) -> Expression:
        if len(token) > MAX_DIGITS:
            raise _misplaced(f"a number of more than {MAX_DIGITS} digits", token)
        return Number(int(token))

    def text(self, token: Token) -> Expression:
        return Text(re.sub(r"\\(.)", r"\1", token[1:-1]))

    def truth(self, token: Token) -> Expression:
        return Number(int(token == "true"))

    def dotted(self, *tokens: Token) -> str:
        return ".".join(re.sub(r"\\(.)", r"\1", token) for token in tokens)

    def name(self, dotted: str) -> Expression:
        return Name(dotted)

    def element(self, array: str, index: Any) -> Expression:
        return Element(array, self._value(index))

    def field(self, token: Token, index: Any = None) -> Any:
        name = re.sub(r"\\(.)", r"\1", token)
        return name, None if index is None else self._value(index)

    def path(self, array: str, index: Any, *fields: Any) -> Expression:
        return Path(((array, self._value(index)), *fields))

    def remote(self, process: Any, mark: Token, subject: Any) -> Expression:
        if isinstance(process, Path) or (mark == "@" and not isinstance(subject, Name)):
            raise _misplaced("expected a process, and a label or variable", mark)
        return Remote(process, str(mark), subject)

    def call(self, function: Token, *arguments: Any) -> Expression:
        return Call(str(function), tuple(map(self._value, arguments)))

    def signed(self, sign: Token, operand: Any) -> Expression:
        value = self._value(operand, sign)
        return negative(value) if sign == "-" else value

    def multiply(self, left: Any, operator: Token, right: Any) -> Expression:
        operands = self._value(left, operator), self._value(right, operator)
        return Operation(str(operator), operands)

    def add(self, left: Any, sign: Token, right: Any) -> Expression:
        second = self._value(right, sign)
        if sign == "-":
            second = negative(second)
        return joined("+", self._value(left, sign), second)

    def compare(self, left: Any, relation: Token, right: Any) -> Expression:
        operands = self._value(left, relation), self._value(right, relation)
        if relation not in ("==", "!=") and any(isinstance(o, Text) for o in operands):
            raise _misplaced(
                f"text is equal or it is not, it has no {str(relation)!r}", relation
            )
        return compared(str(relation), *operands)

    def negation(self, operand: Any) -> Any:
        return Operation("!", (self._value(operand),))

    def both(self, left: Any, right: Any) -> Any:
        return joined("&&", self._value(left), self._value(right))

    def either(self, left: Any, right: Any) -> Any:
        return joined("||", self._value(left), self._value(right))

    def implies(self, left: Any, right: Any) -> Any:
        return self.either(self.negation(left), right)

    def iff(self, left: Any, right: Any) -> Any:
        return self.negation(self.xor(left, right))

    def xor(self, left: Any, right: Any) -> Any:
        # As truths, so that 1 and 2 are the same.
        sides = [Operation("!", (self._value(side),)) for side in (left, right)]
        return compared("!=", *sides)

    def temporal(self, operator: Token, *_: Any) -> Any:
        raise _misplaced("a temporal operator within a proposition", operator)

    def binary(self, _: Any, operator: Token, *__: Any) -> Any:
        raise _misplaced("a temporal operator within a proposition", operator)

    @staticmethod
    def _value(part: Any, near: Token | None = None) -> Expression:
        if not isinstance(part, Expression):
            raise _misplaced("a formula, expected a number", near)
        return part


def _spot(operator: str) -> Any:
    import spot

    return getattr(spot, f"formula_{operator}")


def _of_spot(operator: str, *, several: bool = False) -> Callable[..., Any]:
    """Return what makes a formula of its operands, given together if `several`."""

    def rule(_: Any, *operands: Any) -> Any:
        formulas = list(map(formula_of, operands))
        return _spot(operator)(formulas) if several else _spot(operator)(*formulas)

    return rule


@v_args(inline=True)
class _Formulas(_Propositions):
    """What the rules mean in a formula: Spot's formulas, and expressions in them."""

    finite = False

    negation = _of_spot("Not")
    implies = _of_spot("Implies")
    iff = _of_spot("Equiv")
    xor = _of_spot("Xor")
    both = _of_spot("And", several=True)
    either = _of_spot("Or", several=True)

    def compare(self, left: Any, relation: Token, right: Any) -> Any:
        sides = left, right
        if relation in ("==", "!=") and not any(
            isinstance(s, Expression) for s in sides
        ):
            return _spot("Equiv" if relation == "==" else "Xor")(*sides)
        return super().compare(left, relation, right)

    @staticmethod
    def _value(part: Any, near: Token | None = None) -> Expression:
        return _Propositions._value(_expression_of(part), near)

    def temporal(self, operator: Token, *operand: Any) -> Any:
        formula = formula_of(*operand)
        if (bounds := bounds_of(operator)) is not None:
            return expanded(bounds, [formula], finite=self.finite)
        for letter in reversed({"[]": "G", "<>": "F"}.get(operator, str(operator))):
            formula = self.applied(letter, formula)
        return formula

    def binary(self, left: Any, operator: Token, *right: Any) -> Any:
        operands = [formula_of(left), formula_of(*right)]
        if (bounds := bounds_of(operator)) is not None:
            return expanded(bounds, operands, finite=self.finite)
        name = {"WU": "W", "WR": "R", "V": "R"}.get(operator, str(operator))
        return self.applied(name, *operands)

    def applied(self, operator: str, *operands: Any) -> Any:
        """Return a temporal operator applied to formulas."""
        return _spot(operator)(*operands)


class _Dialect(Transformer_NonRecursive, _Formulas):  # type: ignore[type-arg]
    """The same with the past, or of finite words; it is used once."""

    def __init__(self, dialect: Dialect, *, compares: bool) -> None:
        super().__init__()
        self.finite, self._compares = dialect.finite, compares
        self.history: list[History] = []

    @v_args(inline=True)
    def name(self, dotted: str) -> Any:
        return super().name(dotted) if self._compares else _spot("ap")(dotted)

    @v_args(inline=True)
    def text(self, token: Token) -> Any:
        if self._compares:
            return super().text(token)
        name = re.sub(r"\\(.)", r"\1", token[1:-1])
        if name.startswith(PREFIX):
            raise _misplaced(f"{name!r} is no name beside past operators", token)
        return _spot("ap")(name)

    def applied(self, operator: str, *operands: Any) -> Any:
        """Return an operator applied to formulas; of the past a proposition."""
        if operator in PAST:
            return remembered(operator, operands, self.history)
        return super().applied(operator, *operands)


def _misplaced(message: str, near: Token | None) -> FormulaError:
    position = None if near is None else near.start_pos
    return FormulaError(message, formula="", position=position)
