"""LTL formulas: reading them, and walking through Spot's trees without recursion.

Beyond Spot's syntax (https://spot.lre.epita.fr/concepts.html#ltl) `WU` stands for weak
until and `WR` for weak release, Spot's ``W`` and ``R``, as in the files of the RERS
challenge; and propositions may be comparisons (``P_1=="CS"``, ``x+y <= 3``; see
`ltlpipe.logic.propositions`).  Files of formulas are read by
`ltlpipe.logic.formula_files`.

Spot shares equal subformulas; `fold` looks at each once, so that a formula that
doubles itself on paper costs what it costs in memory.
"""

from __future__ import annotations

import pickle
import re
import sys
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ltlpipe.runtime.arguments import PATH, TEXT, WHOLE, a_kind, expect, is_one
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.workers import can_send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


Value = TypeVar("Value")
FormulaLike: TypeAlias = "str | Formula | Any"
"""What stands for a formula: a text, a `Formula`, or a ``spot.formula``."""

CONNECTIVES = ("Not", "And", "Or", "Implies", "Equiv", "Xor")
LTL = frozenset(("tt", "ff", "ap", "X", "strong_X", *"FGUWRM", *CONNECTIVES))
"""The operators of LTL, as Spot's ``kindstr`` calls them."""

# Quoted propositions are matched first so that nothing inside them is touched.
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_WEAK = re.compile(_QUOTED + r"|(?<![\w.])W[UR](?![\w.])", re.DOTALL)
# Within quotes, Spot 2.13 skips blanks next to escapes, and `/*` at the beginning
# opens a comment; behind a backslash they are what they are.
_MISREAD = re.compile(r"\\.|[ \t/]", re.DOTALL)
# What no formula over plain names has: comparisons, elements, escapes, and what looks
# like a call or is about one process.
_COMPARING = re.compile(
    _QUOTED + r"|(==|!=|<=(?!>)|(?<!=)>=|<(?!--?>|=>|>)|(?<![-=<])>(?!=)|\bfireable\b"
    r"|(?<!/)\\(?!/)|\w@\w|\]\s*[@:]|[A-Za-z_]\w*:[A-Za-z_]"
    r"|\b(?:len|n?full|n?empty|enabled|pc_value|get_priority)\s*\("
    r"|(?<![\w.])(?![XFGUWRM]+\[)[A-Za-z_][\w.]*\[)"
)
_NESTING = re.compile(
    _QUOTED + r"|([({!]|->)|(?<![A-Za-z_.\\])([XFGUWRM]+)(\w?)", re.DOTALL
)
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# The formula in one line behind `>>> `, a caret under the place, the message.
_REPORT = re.compile(r"^>>> .*\n    ( *)\^.*\n(.*)$", re.MULTILINE)

OPERATORS = {"WU": "W", "WR": "R"}
"""Operators of the RERS challenge that Spot calls otherwise."""

MAX_NESTING = 10_000
"""Operators and parentheses that a formula may have, conjunctions and
disjunctions apart: Spot recurses, and its stack must hold any nesting of them.
"""


@dataclass(frozen=True)
class Formula:
    """A parsed formula and where it comes from.

    Parameters
    ----------
    text : str
        As the user wrote it, without numbering.
    spot : spot.formula
        What it means.
    file, line : optional
        The file and the line in it, if it was read from one.
    number : int, optional
        The number with a colon that stands before it in the file, or in its header;
        else how many formulas of a plain list come before it, and itself.
    name : str, optional
        What its file calls it: the id of a property of the Model Checking Contest, or
        the number of a header ``#K:``.
    """

    text: str
    spot: Any
    file: str | None = None
    line: int | None = None
    number: int | None = None
    name: str | None = None

    @property
    def propositions(self) -> tuple[str, ...]:
        """The names of its atomic propositions, sorted."""
        import spot

        found = spot.atomic_prop_collect(self.spot)
        return tuple(sorted(p.ap_name() for p in found))

    @property
    def identifier(self) -> str:
        """Its name or number in its file, or the formula itself."""
        return identifier(self)

    @property
    def where(self) -> str:
        """Where it is, for messages: its name, ``name.ltl:3``, or the formula."""
        if self.name is not None or self.file is None:
            return self.identifier
        return f"{PurePath(self.file).name}:{self.line}"

    def __reduce__(self) -> Any:
        """Travel between processes as text: Spot's formulas cannot."""
        if parse(self.text).spot != self.spot:
            raise pickle.PicklingError(f"{self.text!r} does not say what it means")
        place = (self.file, self.line, self.number, self.name)
        return _restored, (self.text, *place)


def _restored(text: str, *place: Any) -> Formula:
    """Return a formula that has been pickled."""
    file, line, number, name = place
    return replace(parse(text, file=file, line=line), number=number, name=name)


def spot_text(formula: Any) -> str:
    """Return the text by which another process gets a formula of Spot.

    Raises
    ------
    UnsupportedError
        The text does not say what the formula means.
    """
    import spot

    text = str(spot.str_psl(formula, True))
    if from_spot_text(text) != formula:
        raise UnsupportedError(f"Spot cannot read what it has written: {text[:200]}")
    return text


def from_spot_text(text: str) -> Any:
    """Return the formula of Spot that `spot_text` was given."""
    import spot

    return spot.parse_infix_psl(re.sub(_QUOTED, _spelled, text, flags=re.DOTALL)).f


can_send(
    "formula",
    lambda value: isinstance(value, Formula),
    lambda formula: spot_text(formula.spot),
    lambda text: Formula(text, from_spot_text(text)),
)
can_send("tree", lambda value: hasattr(value, "kindstr"), spot_text, from_spot_text)


def means(text: str, formula: Any) -> bool:
    """Whether a text is a formula, the one of this tree."""
    try:
        return bool(parse(text).spot == formula)
    except FormulaError:
        return False


def formula_text(formula: Formula | FormulaError) -> str:
    """Return the text of a formula, be it well formed or not."""
    return formula.text if isinstance(formula, Formula) else formula.formula


def identifier(formula: Formula | FormulaError) -> str:
    """Return a formula's name or number in its file, or the formula itself.

    One of a table has the place in it: ``tasks.csv:3``.
    """
    if formula.name is not None:
        return formula.name
    if formula.number is not None:
        return str(formula.number)
    if formula.file is None:
        return formula_text(formula)
    return f"{PurePath(formula.file).name}:{formula.line}"


def parse(text: str, *, file: str | None = None, line: int | None = None) -> Formula:
    """Parse one formula, LTL in Spot's syntax or with `WU` and `WR`.

    File and line are where it comes from, for messages.

    Raises
    ------
    FormulaError
        With the position of the first error.

    Examples
    --------
    >>> parse("a WU b").spot.to_str()
    'a W b'
    """
    import spot

    expect(TEXT, text=text)
    expect(PATH.or_none, file=file)
    expect(WHOLE.or_none, line=line)

    def refusal(message: str, position: int | None) -> FormulaError:
        return FormulaError(
            message, formula=text, position=position, file=file, line=line
        )

    _refuse_unparsable(text, refusal)
    if _compares(text):
        from ltlpipe.logic.propositions.parsing import parse_formula

        return Formula(text.strip(), parse_formula(text, refusal), file, line)
    try:
        parsed = spot.parse_infix_psl(_WEAK.sub(_spelled, text))
    except RuntimeError as error:  # too many operands
        raise refusal(f"Spot cannot hold the formula: {error}", None) from None
    if parsed.format_errors(spot.ostringstream()):
        raise refusal(*_first_error(text))
    return Formula(text.strip(), parsed.f, file, line)


def formula_of(given: FormulaLike, parameter: str = "formula") -> Formula:
    """Return as one of ours what stands for a formula.

    Parameters
    ----------
    given : str, Formula or spot.formula
        A text is parsed.
    parameter : str
        What the caller calls it, for messages.

    Raises
    ------
    FormulaError
        A text that does not parse.
    UnsupportedError
        It is something else.
    """
    if isinstance(given, Formula):
        return given
    if isinstance(given, str):
        return parse(given)
    spot = sys.modules.get("spot")
    if spot is not None and isinstance(given, spot.formula):
        return Formula(str(spot.str_psl(given)), given)
    message = (
        f"{parameter}: expected LTL as a text, a Formula or a spot.formula, not "
        f"{a_kind(given)}"
    )
    if spot is not None and isinstance(given, spot.twa):
        message += "; an automaton of the unwanted runs goes into violations"
    raise UnsupportedError(message)


def formulas_of(
    given: FormulaLike | Iterable[FormulaLike], parameter: str = "formulas"
) -> list[Formula]:
    """Return as ours one formula or several; see `formula_of`."""
    if isinstance(given, Formula) or is_one(given):
        return [formula_of(given, parameter)]
    return [formula_of(each, parameter) for each in given]


def _refuse_unparsable(
    text: str, refusal: Callable[[str, int | None], FormulaError]
) -> None:
    """Refuse formulas on which Spot crashes or fails without an error."""
    if not text.strip():
        raise refusal("an empty formula; expected LTL in Spot's syntax", 0)
    if found := _NO_TEXT.search(text):
        raise refusal(f"{found[0]!r}, expected text", found.start())
    for quoted in re.finditer(_QUOTED, text, re.DOTALL):
        if inside := re.search(r"[\r\n]", quoted[0]):  # Spot would drop it
            position = quoted.start() + inside.start()
            raise refusal("a line break within quotes", position)
    nesting = _nesting(text)
    if nesting > MAX_NESTING:
        raise refusal(
            f"{nesting:,} operators and parentheses, expected at most {MAX_NESTING:,}",
            None,
        )


def _nesting(text: str) -> int:
    """Return how many operators and parentheses might stand in each other.

    Letters within names are none, for the places of a net may be thousands.
    """
    nesting, compares = 0, _compares(text)
    for found in _NESTING.finditer(text):
        if found[1]:
            nesting += 1
        elif found[2] and not (found[3] and compares):  # GFa may be G F a
            nesting += len(found[2])
    return nesting


def _compares(text: str) -> bool:
    """Whether a formula has what none over plain names has."""
    return any(found[1] for found in _COMPARING.finditer(text))


def _spelled(match: re.Match[str]) -> str:
    """Return WU, WR or a quoted name as Spot reads it right."""
    found = match[0]
    if found in OPERATORS:
        return OPERATORS[found]
    return _MISREAD.sub(lambda m: m[0] if m[0][0] == "\\" else "\\" + m[0], found)


def _masked(match: re.Match[str]) -> str:
    """Return WU, WR or a quoted name without a change of its length."""
    found = match[0]
    if found in OPERATORS:
        return f"{OPERATORS[found]} "
    return '"' + "_" * (len(found) - 2) + '"'


def _first_error(text: str) -> tuple[str, int]:
    """Return message and position of the first error that Spot finds."""
    import spot

    report = spot.ostringstream()
    line = _WEAK.sub(_masked, text).replace("\r", " ").replace("\n", " ")
    spot.parse_infix_psl(line).format_errors(report)
    found = _REPORT.search(report.str())
    if found is None:
        return "syntax error", 0
    position = min(len(found[1]), len(text))
    return _readable(found[2], text[position : position + 1]), position


def _readable(message: str, found: str) -> str:
    """Name the character at which Spot says that the text ends."""
    if found and message.endswith("unexpected end of file"):
        return f"unexpected character {found!r}; quote what is no plain name"
    return message


def kind_of(node: Any) -> str:
    """Return the operator of a formula; over infinite words both X are one.

    Raises
    ------
    UnsupportedError
        The operator is one of PSL and not of LTL.
    """
    kind = str(node.kindstr())
    if kind not in LTL:
        raise UnsupportedError(
            f"{node} is PSL; only formulas of LTL can be looked at as to actions"
        )
    return "X" if kind == "strong_X" else kind


def fold(formula: Any, combine: Callable[[Any, str, list[Value]], Value]) -> Value:
    """Compute a value for a formula of LTL from those of its operands, bottom up.

    `combine` takes a subformula, its operator (see `LTL`) and the values of its
    operands, and returns its value.

    Raises
    ------
    UnsupportedError
        An operator of PSL.
    """
    values: dict[int, Value] = {}
    stack: list[tuple[Any, list[Any] | None]] = [(formula, None)]
    while stack:
        node, operands = stack.pop()
        if node.id() in values:
            continue
        if operands is None:
            operands = list(node)
            if operands:
                stack.append((node, operands))
                stack.extend((operand, None) for operand in operands)
                continue
        below = [values[operand.id()] for operand in operands]
        values[node.id()] = combine(node, kind_of(node), below)
    return values[formula.id()]


def rebuilt(kind: str, operands: list[Any]) -> Any:
    """Return an operator, as `kind_of` names it, applied to formulas of Spot."""
    import spot

    make = getattr(spot, f"formula_{kind}")
    return make(operands) if kind in ("And", "Or") else make(*operands)
