"""Texts of formulas: what Spot reads, other readings, and hints.

What Spot crashes on, or reads wrong, is refused or spelled otherwise.  Two kinds of
texts that it does not read have one reading all the same: formulas in the prefix
notation of LBT (``& G a F b``), and those in which an operator letter stands where only
a name can (``[](Q & !R & <>R -> (!P U R))``, as in the catalogue of Dwyer, Avrunin and
Corbett).  For the mistakes that are made most there are hints.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.bounded import BOUNDED, MAX_STEPS, steps_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.logic.history import Dialect
    from ltlpipe.runtime.errors import FormulaError

AUTOMATON = re.compile(
    r"\s*(?:HOA:|never\s*(?:\s\w+\s*)?\{|\d+\s+\d+[st]*\s|D[RS]A\s+v)"
)
"""How texts of automata begin, and no formula does."""

OF_VIOLATIONS = "check takes one of the violations as --automaton"

# Quoted propositions are matched first so that nothing inside them is touched.
IN_QUOTES = r'"(?:[^"\\]|\\.)*"|(?<![\w.\\])\'(?:[^\'\\]|\\.)*\''
_SYMBOLS = {
    "\N{DOWN TACK}": "1",
    "\N{UP TACK}": "0",
    "\N{LOZENGE}": "F",
    "\N{MATHEMATICAL SCRIPT CAPITAL U}": "U",
    "\N{MATHEMATICAL SANS-SERIF CAPITAL U}": "U",
    "\N{SCRIPT CAPITAL R}": "R",
    "\N{MATHEMATICAL SANS-SERIF CAPITAL R}": "R",
    "\N{MATHEMATICAL SCRIPT CAPITAL W}": "W",
    "\N{MATHEMATICAL SANS-SERIF CAPITAL W}": "W",
}
OPERATORS = {"WU": "W", "WR": "R", **_SYMBOLS}
"""Operators of the RERS challenge, and of papers, that Spot calls otherwise."""
# `F[]` begins bounds in Spot 2.13, which then reads and writes what is behind the text.
_WEAK = re.compile(
    IN_QUOTES + rf"|(?<![\w.])W[UR](?![\w.])|[{''.join(_SYMBOLS)}]"
    r"|(?<=[XFG])\s*\[\s*\](?![-=]>)",
    re.DOTALL,
)
UNQUOTED = frozenset({"xor", "V", "first_match"})
"""Names of which Spot forgets the quotes.

Behind an operand xor is the operator, first_match before one; the other V is an R.
"""
_OF_SPOT = re.compile(
    IN_QUOTES + r"|(?<![\w.])((?<![)}] )xor|V|first_match(?!\())(?![\w.])", re.DOTALL
)
_JUNCTION = re.compile(
    IN_QUOTES + r"|(?<!\\)/\\|(?<=[\s)\"'])\\/(?=[\s(!~\"'])", re.DOTALL
)
# Within quotes, Spot 2.13 skips blanks next to escapes, and `/*` at the beginning
# opens a comment; behind a backslash they are what they are.
_MISREAD = re.compile(r"\\.|[ \t/]", re.DOTALL)
# What no formula over plain names has: comparisons, elements, escapes, and what looks
# like a call or is about one process.
_COMPARING = re.compile(
    IN_QUOTES + r"|<>[-=]>|(==|!=|<=(?!>)|(?<!=)>=|<(?!--?>|=>|>)|(?<![-=<])>(?!=)"
    r"|\bfireable\b|(?<!/)\\(?!/)|\w@\w|\w\[(?![*:=+]|->)[^][]*\]\s*[@:]|[A-Za-z_][^\WA-Za-z_]*:[A-Za-z_]"
    r"|\b(?:len|n?full|n?empty|enabled|pc_value|get_priority)\s*\("
    r"|(?<![\w.])(?![XFGUWRM]+\[)[A-Za-z_][\w.]*\[(?![*:=]|\+\]|->))"
)
_NESTING = re.compile(
    IN_QUOTES + r"|([({!]|->)|(?<![A-Za-z_.\\])([XFGUWRM]+)(\w?)", re.DOTALL
)
_STRONG = re.compile(r"!\s*\]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
MAX_NESTING = 10_000
"""Operators and parentheses that a formula may have, conjunctions and
disjunctions apart: Spot recurses, and its stack must hold any nesting of them.
"""

_QUOTED = r'"[^"]*"'  # of a text whose quotes are masked
_PREFIX = re.compile(r"\s*([!XFG]\s+)*([&|^ieUVRWM])\s")
_LETTER_AS_NAME = re.compile(
    _QUOTED + r"|(?:^|[(!~&|]|->|<>|\[\]|\b[UWRVMXFG])\s*(?P<name>[UWRVMXFG])\s*"
    r"(?=$|[)&|]|<?->|[UWRVM](?!\w))"
)
# The formula in one line behind `>>> `, a caret under the place, the message.
_REPORT = re.compile(r"^>>> .*\n    ( *)\^.*\n(.*)$", re.MULTILINE)
_EQUALS = re.compile(_QUOTED + r"|(?P<found>(?<![=!<>:\\])=(?![=>\\]))")
_PAST = re.compile(
    _QUOTED
    + r"|(?<![\w.])(?P<found>[HOYZ])\s*[\w(\"]|[\w)\"]\s+(?P<both>[ST])\s+[\w(!\"]"
)
_WORD = re.compile(_QUOTED + r"|(?<![\w.])(?P<found>(?P<letters>[XFG]+)[a-z_]\w*)")
_CTL = re.compile(
    _QUOTED + r"|(?<![\w.])(?P<found>[AE](?:[GFX]\b|(?=\s*[(\[]|\s+[GFX]\b)))"
)
_NO_OPERAND = re.compile(
    _QUOTED
    + r"|(?:^|\(|->|&&|\|\||(?<!&)&(?!&)|(?<!\|)\|(?!\|)|\b[UWRM])\s*"
    + r"(?P<found>&&?|\|\|?|->)"
)


def refuse_unparsable(
    text: str,
    refusal: Callable[[str, int | None], FormulaError],
    dialect: Dialect,
) -> None:
    """Refuse formulas on which Spot crashes or fails without an error."""
    if not text.strip():
        raise refusal("an empty formula; expected LTL in Spot's syntax", 0)
    if AUTOMATON.match(text):
        raise refusal(f"an automaton, expected LTL; {OF_VIOLATIONS}", 0)
    if found := _NO_TEXT.search(text):
        raise refusal(f"{found[0]!r}, expected text", found.start())
    for quoted in re.finditer(IN_QUOTES, text, re.DOTALL):
        if inside := re.search(r"[\r\n]", quoted[0]):  # Spot would drop it
            position = quoted.start() + inside.start()
            raise refusal("a line break within quotes", position)
    hidden = masked(text)
    if not dialect.finite and (strong := _STRONG.search(hidden)):
        message = "X[!] is the next of finite words: write X, or use --semantics=finite"
        raise refusal(message, strong.start())
    if not compares(text) and (n_steps := steps_in(hidden)) > MAX_STEPS:
        message = (
            f"bounds of {n_steps:,} steps together, expected at most {MAX_STEPS:,}"
        )
        raise refusal(message, None)
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
    nesting, has_names = 0, compares(text)
    for found in _NESTING.finditer(text):
        if found[1]:
            nesting += 1
        elif found[2] and not (found[3] and has_names):  # GFa may be G F a
            nesting += len(found[2])
    return nesting


def compares(text: str) -> bool:
    """Whether a formula has what none over plain names has, bounds apart."""
    text = BOUNDED.sub(lambda found: "F" * len(found[0]), text)
    return any(found[1] for found in _COMPARING.finditer(text))


def is_bounded(text: str) -> bool:
    """Whether a formula has bounds that Spot does not know."""
    found = BOUNDED.findall(masked(text))
    return any(operator[0][0] in "URV" or "<=" in operator[0] for operator in found)


def _spelled(match: re.Match[str]) -> str:
    """Return an operator or a quoted name as Spot reads it right."""
    found = match[0]
    if found in OPERATORS:
        return f" {OPERATORS[found]} "
    if found[-1] == "]":
        return " G "
    if found in UNQUOTED:
        return f'"{found}"'
    if found[0] == "'":
        plain = re.sub(r"\\'", "'", found[1:-1])
        found = '"' + re.sub(r'\\.|"', _escaped, plain, flags=re.DOTALL) + '"'
    return _MISREAD.sub(lambda m: m[0] if m[0][0] == "\\" else "\\" + m[0], found)


def _escaped(match: re.Match[str]) -> str:
    """Return a double quote with a backslash; what has one stays."""
    return '\\"' if match[0] == '"' else match[0]


def _masked(match: re.Match[str]) -> str:
    """Return an operator or a quoted name without a change of its length."""
    found = match[0]
    if found in OPERATORS:
        return OPERATORS[found].ljust(len(found))
    if found[-1] == "]":
        return " G".ljust(len(found))
    return '"' + "_" * (len(found) - 2) + '"'


def masked(text: str) -> str:
    """Return a text of the same length, with names in quotes masked."""
    return _WEAK.sub(_masked, text)


def for_spot(text: str) -> str:
    """Return a text with quotes and operators as Spot reads them right."""
    return _WEAK.sub(_spelled, text)


def with_plain_junctions(text: str) -> str:
    r"""Return a text of the same length, with ``/\`` and ``\/`` as ``&&`` and ``||``.

    Not within quotes, nor within names, in which a slash may be escaped.

    Examples
    --------
    >>> with_plain_junctions(r"x==1 /\ a \/ a\/b==2 /\(y==1)")
    'x==1 && a || a\\/b==2 &&(y==1)'
    """

    def plain(found: re.Match[str]) -> str:
        return {"/\\": "&&", "\\/": "||"}.get(found[0], found[0])

    return _JUNCTION.sub(plain, text)


def with_quotes(text: str) -> str:
    """Return a text of Spot's, with all parentheses, as it reads names right."""
    return _OF_SPOT.sub(_spelled, text)


def has_strong_next(text: str) -> bool:
    """Whether there is an ``X[!]``, or bounds with a ``!``."""
    return bool(_STRONG.search(masked(text)))


def prefix(text: str) -> Any:
    """Return the formula of Spot that a text is in prefix notation; None if it is none.

    One without an operator of two operands is no other formula than without prefix
    notation.
    """
    if not _PREFIX.match(text):
        return None
    import spot

    parsed = spot.parse_prefix_ltl(text)
    return None if parsed.format_errors(spot.ostringstream()) else parsed.f


def has_letters_as_names(masked: str) -> bool:
    """Whether an operator letter stands where only a name can; quotes are masked."""
    return any(found["name"] for found in _LETTER_AS_NAME.finditer(masked))


def first_error(masked: str, dialect: Dialect) -> tuple[str, int]:
    """Return message and position of the first error that Spot finds.

    The text is that of the formula with names in quotes masked, of the same length.
    """
    import spot

    report = spot.ostringstream()
    line = masked.replace("\r", " ").replace("\n", " ")
    spot.parse_infix_psl(line).format_errors(report)
    found = _REPORT.search(report.str())
    message, position = "syntax error", 0
    if found is not None:
        position = min(len(found[1]), len(masked))
        message = _readable(found[2], masked[position : position + 1])
    return message + hint(masked, dialect), position


def _readable(message: str, found: str) -> str:
    """Name the character at which Spot says that the text ends."""
    if found and message.endswith("unexpected end of file"):
        return f"unexpected character {found!r}; quote what is no plain name"
    return message


def hint(masked: str, dialect: Dialect, *, compares: bool = False) -> str:
    """Return what to do about a formula that cannot be read, if that is known.

    It begins with a semicolon.  Quotes are masked.  In one that `compares` words are
    names, whatever they begin with.
    """
    for pattern in (_EQUALS, _PAST, _NO_OPERAND, _CTL, _WORD)[: 4 if compares else 5]:
        for found in pattern.finditer(masked):
            letter = next(filter(None, found.groups()), None)
            if letter is None or (pattern is _PAST and dialect.past):
                continue
            if pattern is _EQUALS:
                return "; values are compared by ==, and ! is not"
            if pattern is _PAST:
                return f"; {letter} is a past operator with --past only"
            if pattern is _NO_OPERAND:
                return f"; before {letter!r} an operand is missing"
            if pattern is _CTL:
                return f"; {letter!r} is of CTL, a formula of LTL is about all runs"
            return f"; {word_hint(found['found'], found['letters'])}"
    return ""


def equals_sign(masked: str) -> int | None:
    """Return the place of a first ``=`` that compares nothing; quotes are masked."""
    found = (f.start("found") for f in _EQUALS.finditer(masked) if f["found"])
    return next(found, None)


def word_hint(word: str, letters: str) -> str:
    """Say how a word is read that begins with operators."""
    read = " ".join([*letters, word[len(letters) :]])
    return f'{word} is {read}, write "{word}" if it is a name'


def read_as_operators(text: str, name: str) -> str | None:
    """Say of an unknown name that it is the rest of a word, if it is.

    Examples
    --------
    >>> read_as_operators("G Final", "inal")
    'Final is F inal, write "Final" if it is a name'
    """
    found = re.search(rf"(?<![\w.\"'])([XFG]+){re.escape(name)}(?!\w)", text)
    return None if found is None else word_hint(found[0], found[1])
