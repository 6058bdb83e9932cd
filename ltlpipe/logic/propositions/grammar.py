"""The grammar of formulas and propositions.

An operator letter that stands where only a name can (``X <= 0``, ``!R & a``) is a name.
Past operators are another grammar: without it their letters are names everywhere.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.bounded import OF_ONE, OF_TWO
from ltlpipe.runtime.grammars import parser_of

if TYPE_CHECKING:
    from lark import Lark, Transformer

_GRAMMAR = r"""
?formula: exclusive
    | exclusive _IMPLIES formula -> implies
    | exclusive _IFF formula -> iff
?exclusive: disjunction | exclusive _XOR disjunction -> xor
?disjunction: conjunction | disjunction _OR conjunction -> either
?conjunction: until | conjunction _AND until -> both
?until: prefixed
    | prefixed UNTIL until -> binary
    | prefixed BOUNDED_UNTIL until -> binary
?prefixed: comparison
    | _NOT prefixed -> negation
    | TEMPORAL prefixed -> temporal
    | BOUNDED prefixed -> temporal
?comparison: sum | sum RELATION sum -> compare
?sum: product | sum SIGN product -> add
?product: factor | product TIMES factor -> multiply
?factor: primary | SIGN factor -> signed
?primary: "(" formula ")"
    | NUMBER -> number
    | STRING -> text
    | TRUTH -> truth
    | reference
    | reference AT reference -> remote
    | NAME "(" formula ("," formula)* ")" -> call
?reference: dotted -> name
    | dotted "[" formula "]" -> element
    | dotted "[" formula "]" field+ -> path
dotted: NAME ("." PART)*
field: "." PART ["[" formula "]"]

TEMPORAL.3: /\[\]|<>|[@UNARY@]+(?!\w)(?=\s*(\(|\[\]|<>|!(?!=)|~|"|'|\\|\w))/
BOUNDED.4: /@BOUNDED@/
TRUTH.3: /(true|false)(?!\w)/
_NOT.3: /!(?!=)|~|not(?!\w)/
_AND: /&&?|and(?!\w)/
_OR: /\|\|?|or(?!\w)/
_XOR: /\^|xor(?!\w)/
_IMPLIES: /--?>|=>|imply(?!\w)/
_IFF: /<--?>|<=>/
UNTIL: /(WU|WR|[@BINARY@])(?!\w)/
BOUNDED_UNTIL.1: /@BOUNDED_UNTIL@/
RELATION: /==|!=|<=(?!>)|>=|<(?!--?>|=>|>)|>/
SIGN: /\+|-(?!-?>)/
TIMES: /[*\/%]/
AT: /[@:]/
NUMBER: /[0-9]+/
STRING: /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/
NAME: /([A-Za-z_]|\\.)(\w|\\.)*/
PART: /(\w|\\.)+/
BLANK: /\s+/
%ignore BLANK
"""

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
def parser(rules: type[Transformer[Any, Any]] | None, *, past: bool = False) -> Lark:
    """Return the parser, which applies some rules or, without, makes a tree."""
    text = _GRAMMAR
    for name, pattern in {
        "UNARY": "XFGHOYZ" if past else "XFG",
        "BINARY": "UWRVMST" if past else "UWRVM",
        "BOUNDED_UNTIL": OF_TWO,
        "BOUNDED": OF_ONE,
    }.items():
        text = text.replace(f"@{name}@", pattern.replace("/", r"\/"))
    return parser_of(
        text,
        "past" if past else "formulas",
        start="formula",
        transformer=None if rules is None else rules(),
        maybe_placeholders=False,
    )
