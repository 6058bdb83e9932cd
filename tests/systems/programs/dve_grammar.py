"""The grammar of DVE, which lark parses: what the parser of models is compared with."""

from __future__ import annotations

from functools import cache

from lark import Lark

# A rule that is called like a class of the syntax tree makes one of its objects, any
# other a tuple of its parts.  What is in quotes is no part, but in rules with a "!".
_GRAMMAR = r"""
file: declarations processes "system" (ASYNC | SYNC) ["property" label] ";"
declarations: (variables | channels)*
processes: process+
variables: [CONST] _type names ";"
!_type: "byte" | "int"
names: declared ("," declared)*
declared: NAME [size] ["=" (expression | values)]
?size: "[" expression "]"
values: "{" several "}"
several: expression ("," expression)*
channels: "channel" ["{" types "}"] channel_names ";"
types: _type ("," _type)*
channel_names: channel ("," channel)*
channel: NAME [size] -> declared

process: "process" NAME "{" locals "state" labels sections [transitions] "}"
locals: variables*
sections: section*
section: (INIT | COMMIT | ACCEPT) labels | ASSERT assertions
labels: label ("," label)* ";"
label: NAME
assertions: assertion ("," assertion)* ";"
assertion: label ":" expression

transitions: "trans" transition ("," transition)* ";"?
transition: [label] ARROW label "{" [guard] [synchronisation] [effect] "}"
guard: "guard" expression ("," expression)* ";"
synchronisation: "sync" NAME (SENDS | RECEIVES) [message] ";"
message: expression | "{" expression ("," expression)* "}"
effect: "effect" assignment ("," assignment)* ";"
assignment: name "=" expression

!?expression: disjunction | expression "imply" disjunction -> binary
!?disjunction: conjunction | disjunction ("||" | "or") conjunction -> binary
!?conjunction: bit_or | conjunction ("&&" | "and") bit_or -> binary
!?bit_or: bit_xor | bit_or "|" bit_xor -> binary
!?bit_xor: bit_and | bit_xor "^" bit_and -> binary
!?bit_and: equality | bit_and "&" equality -> binary
!?equality: order | equality ("==" | "!=") order -> binary
!?order: shift | order ("<" | "<=" | ">" | ">=") shift -> binary
!?shift: sum | shift ("<<" | ">>") sum -> binary
!?sum: product | sum ("+" | "-") product -> binary
!?product: signed | product ("*" | "/" | "%") signed -> binary
!?signed: primary | ("-" | "~" | "not" | "!") signed -> unary
?primary: literal | name | NAME "." NAME -> stateof | LPAR expression ")" -> closed
!literal: NUMBER | "true" | "false"
name: [NAME "->"] NAME [size]

CONST: "const"
INIT: "init"
COMMIT: "commit"
ACCEPT: "accept"
ASSERT: "assert"
SYNC: "sync"
ASYNC: "async"
SENDS: "!"
RECEIVES: "?"
ARROW: "->"
LPAR: "("
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /[0-9]+/
BLANK: /\s+/
COMMENT: /\/\/[^\n]*|\/\*(?s:.*?)\*\//
%ignore BLANK
%ignore COMMENT
"""


@cache
def grammar() -> Lark:
    """Return its parser."""
    options = {"lexer": "basic", "maybe_placeholders": True}
    return Lark(_GRAMMAR, parser="lalr", start="file", **options)
