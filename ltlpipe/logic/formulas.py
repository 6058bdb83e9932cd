"""LTL formulas: reading them, and walking through Spot's trees without recursion.

Beyond Spot's syntax (https://spot.lre.epita.fr/concepts.html#ltl) `WU` stands for weak
until and `WR` for weak release, Spot's ``W`` and ``R``, as in the files of the RERS
challenge; and propositions may be comparisons (``P_1=="CS"``, ``x+y <= 3``; see
`ltlpipe.logic.propositions`).  Single quotes are quotes, until may have bounds
(`ltlpipe.logic.bounded`), and there are past operators if that is wanted
(`ltlpipe.logic.history`).  What Spot does not read may have another reading
(`ltlpipe.logic.readings`).  Files of formulas are read by
`ltlpipe.logic.formula_files`.

Spot shares equal subformulas; `fold` looks at each once, so that a formula that
doubles itself on paper costs what it costs in memory.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ltlpipe.logic import readings
from ltlpipe.logic.history import PLAIN, Dialect, own_propositions
from ltlpipe.runtime.arguments import PATH, TEXT, TRUTH, WHOLE, a_kind, expect, is_one
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.workers import can_send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set

    from ltlpipe.logic.history import History

Value = TypeVar("Value")
FormulaLike: TypeAlias = "str | Formula | Any"
"""What stands for a formula: a text, a `Formula`, or a ``spot.formula``."""

CONNECTIVES = ("Not", "And", "Or", "Implies", "Equiv", "Xor")
LTL = frozenset(("tt", "ff", "ap", "X", "strong_X", *"FGUWRM", *CONNECTIVES))
"""The operators of LTL, as Spot's ``kindstr`` calls them."""


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
    dialect : Dialect
        How it was read.
    history : tuple of History
        What those of its propositions mean that stand for past subformulas.
    title : str, optional
        What its file says about it in words.
    alphabet : tuple of str, optional
        The actions that its file declares: one that the system does not have is known
        never to happen.
    """

    text: str
    spot: Any
    file: str | None = None
    line: int | None = None
    number: int | None = None
    name: str | None = None
    title: str | None = None
    alphabet: tuple[str, ...] | None = None
    dialect: Dialect = PLAIN
    history: tuple[History, ...] = ()

    @property
    def propositions(self) -> tuple[str, ...]:
        """The names of its atomic propositions, sorted."""
        return own_propositions(self.spot, self.history)

    @property
    def equals_sign(self) -> int | None:
        """The place of ``a=1``, which Spot reads as ``a``; None if there is none."""
        return readings.equals_sign(readings.masked(self.text))

    @property
    def identifier(self) -> str:
        """Its name or number in its file, or the formula itself."""
        return identifier(self)

    @property
    def where(self) -> str:
        """Its place for messages: its name, ``name.ltl:3``, or its text."""
        if self.name is not None or self.file is None:
            return self.identifier
        return f"{PurePath(self.file).name}:{self.line}"

    def __reduce__(self) -> Any:
        """Travel between processes as text: Spot's formulas cannot."""
        if parse(self.text, **self.dialect._asdict()).spot != self.spot:
            raise pickle.PicklingError(f"{self.text!r} does not say what it means")
        return restored, (self.text, self.dialect, *self.place)

    @property
    def place(self) -> tuple[Any, ...]:
        """File, line, number, name, title and alphabet."""
        about = (self.title, self.alphabet)
        return (self.file, self.line, self.number, self.name, *about)


def restored(text: str, dialect: Dialect, *place: Any) -> Formula:
    """Return a formula by what another one is said to be."""
    file, line, number, name, title, alphabet = place
    found = parse(text, file=file, line=line, **dialect._asdict())
    about: dict[str, Any] = {"title": title, "alphabet": alphabet}
    return replace(found, number=number, name=name, **about)


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

    return spot.parse_infix_psl(readings.with_quotes(text)).f


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


def parse(
    text: str,
    *,
    file: str | None = None,
    line: int | None = None,
    past: bool = False,
    finite: bool = False,
) -> Formula:
    """Parse one formula, LTL in Spot's syntax or with `WU` and `WR`.

    Parameters
    ----------
    text : str
        The formula.
    file, line : optional
        The place that it comes from, for messages.
    past : bool
        Whether the letters ``H O S T Y Z`` are past operators.
    finite : bool
        Whether words are finite, so that ``X[!]`` is allowed.

    Returns
    -------
    Formula
        The formula, with Spot's `spot.formula` as its `spot`.

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
    expect(TRUTH, past=past, finite=finite)
    dialect = Dialect(past, finite)

    def refusal(message: str, position: int | None) -> FormulaError:
        return FormulaError(
            message, formula=text, position=position, file=file, line=line
        )

    readings.refuse_unparsable(text, refusal, dialect)
    own = text.strip(), file, line

    def hinting(message: str, position: int | None) -> FormulaError:
        told = readings.hint(readings.masked(text), dialect, compares=True)
        return refusal(message + told, position)

    if dialect.past or readings.is_bounded(text):
        return _of_dialect(own, text, hinting, dialect)
    if readings.compares(text):
        if dialect.finite:
            return _of_dialect(own, text, hinting, dialect)
        from ltlpipe.logic.propositions.parsing import parse_formula

        plain = readings.with_plain_junctions(text)
        return Formula(own[0], parse_formula(plain, hinting), file, line)
    try:
        parsed = spot.parse_infix_psl(readings.for_spot(text))
    except RuntimeError as error:  # too many operands
        raise refusal(f"Spot cannot hold the formula: {error}", None) from None
    if not parsed.format_errors(spot.ostringstream()):
        return Formula(own[0], parsed.f, file, line, dialect=dialect)
    if (other := readings.prefix(text)) is not None:
        return Formula(own[0], other, file, line, dialect=dialect)
    if readings.has_letters_as_names(readings.masked(text)):
        with suppress(FormulaError):
            return _of_dialect(own, text, refusal, dialect)
    raise refusal(*readings.first_error(readings.masked(text), dialect))


def _of_dialect(
    own: tuple[str, str | None, int | None],
    text: str,
    refusal: Callable[[str, int | None], FormulaError],
    dialect: Dialect,
) -> Formula:
    """Return a formula with what Spot does not read."""
    from ltlpipe.logic.propositions.parsing import parse_dialect

    known = readings.compares(text)
    text = readings.with_plain_junctions(text)
    found, history = parse_dialect(text, refusal, dialect, compares=known)
    return Formula(own[0], found, *own[1:], dialect=dialect, history=history)


def formula_of(
    given: FormulaLike, parameter: str = "formula", dialect: Dialect = PLAIN
) -> Formula:
    """Return as one of ours what stands for a formula.

    Parameters
    ----------
    given : str, Formula or spot.formula
        A text is parsed.
    parameter : str
        What the caller calls it, for messages.
    dialect : Dialect
        How texts are read, also those of formulas that were read otherwise.

    Raises
    ------
    FormulaError
        A text that does not parse.
    UnsupportedError
        It is something else.
    """
    if isinstance(given, Formula):
        return _reread(given, dialect)
    if isinstance(given, str):
        return parse(given, **dialect._asdict())
    spot = sys.modules.get("spot")
    if spot is not None and isinstance(given, spot.formula):
        text = str(spot.str_psl(given))
        if readings.UNQUOTED.intersection(own_propositions(given, ())):
            text = readings.with_quotes(spot_text(given))
        is_strong = readings.has_strong_next(text)
        return (
            parse(text, **dialect._asdict())
            if is_strong
            else Formula(text, given, dialect=dialect)
        )
    message = (
        f"{parameter}: expected LTL as a text, a Formula or a spot.formula, not "
        f"{a_kind(given)}"
    )
    if spot is not None and isinstance(given, spot.twa):
        message += f"; {readings.OF_VIOLATIONS}"
    raise UnsupportedError(message)


def _reread(formula: Formula, dialect: Dialect) -> Formula:
    """Return a formula as one that was read in some way."""
    if formula.dialect == dialect:
        return formula
    return restored(formula.text, dialect, *formula.place)


def reread(formula: Formula | FormulaError, dialect: Dialect) -> Formula | FormulaError:
    """Return one of a file's formulas, or its error, as it is read in some way."""
    is_xml = formula.file is not None and ".xml" in PurePath(formula.file).suffixes
    if isinstance(formula, FormulaError) and (dialect == PLAIN or is_xml):
        return formula
    try:
        if isinstance(formula, Formula):
            return _reread(formula, dialect)
        text, file, line = formula.formula, formula.file, formula.line
        found = parse(text, file=file, line=line, **dialect._asdict())
        told = formula.alphabet
        alphabet = None if told is None else tuple(told)  # a list behind a wire
        about: dict[str, Any] = {"title": formula.title, "alphabet": alphabet}
        return replace(found, number=formula.number, name=formula.name, **about)
    except FormulaError as error:
        error.name, error.number = formula.name, formula.number
        return error


def formulas_of(
    given: FormulaLike | Iterable[FormulaLike],
    parameter: str = "formulas",
    dialect: Dialect = PLAIN,
) -> list[Formula | FormulaError]:
    """Return as ours one formula or several; see `formula_of`.

    One of several that does not parse is its error.
    """
    if isinstance(given, Formula) or is_one(given):
        return [formula_of(given, parameter, dialect)]
    found: list[Formula | FormulaError] = []
    for each in given:
        try:
            found.append(formula_of(each, parameter, dialect))
        except FormulaError as error:
            found.append(error)
    return found


def raised(formulas: list[Formula | FormulaError]) -> list[Formula | FormulaError]:
    """Return formulas, one of which may be an error if there are several."""
    if len(formulas) == 1 and isinstance(formulas[0], FormulaError):
        raise formulas[0]
    return formulas


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


def seen_at_ends(formula: Formula, ends: Set[str]) -> set[str] | None:
    """Return the propositions that matter only where a run ends.

    `ends` are those that are true there, and only there.  None if the formula has one
    of them and is not ``G`` of a conjunction whose parts are ``!end``, ``end -> p``, or
    without ends, `p` being about a state and without ends.
    """
    import spot

    node = spot.negative_normal_form(formula.spot)
    if node.kindstr() != "G" or not node[0].is_boolean():
        return set() if ends.isdisjoint(formula.propositions) else None
    found: set[str] = set()
    elsewhere: set[str] = set()
    for part in list(node[0]) if node[0].kindstr() == "And" else [node[0]]:
        names = own_propositions(part, ())
        cases = list(part) if part.kindstr() == "Or" else [part]
        tests = [c for c in cases if not ends.isdisjoint(own_propositions(c, ()))]
        if len(tests) > 1 or any(test.kindstr() != "Not" for test in tests):
            return None
        (found if tests else elsewhere).update(names)
    return found - elsewhere - ends


def rebuilt(kind: str, operands: list[Any]) -> Any:
    """Return an operator, as `kind_of` names it, applied to formulas of Spot."""
    import spot

    make = getattr(spot, f"formula_{kind}")
    return make(operands) if kind in ("And", "Or") else make(*operands)
