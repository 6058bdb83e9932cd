"""Parsers of grammars, whose tables are kept in the folder of machine code.

Making the tables takes tens to hundreds of milliseconds: as long as many checks.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.folders import cache_folder

if TYPE_CHECKING:
    from lark import Lark


def parser_of(grammar: str, name: str, **options: Any) -> Lark:
    """Return the LALR parser of a grammar.

    Parameters
    ----------
    grammar : str
        In the language of lark.
    name : str
        That of the file with the tables; grammars that differ may share it in turn.
    **options
        Those of `lark.Lark`.
    """
    from lark import Lark

    folder = cache_folder() / "grammars"
    with suppress(OSError):  # they are made again each time then
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = str(folder / f"{name}.lark")
    return Lark(grammar, parser="lalr", cache=path, **options)
