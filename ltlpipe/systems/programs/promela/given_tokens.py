"""A lexer of lark that is given the tokens.

It has a module of its own because lark is imported only where something is parsed, and
a parser that is kept on disk names the class of its lexer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark.lexer import Lexer

if TYPE_CHECKING:
    from collections.abc import Iterator


class GivenTokens(Lexer):
    """Hands the tokens on that the parser is given in the place of a text."""

    def __init__(self, _configuration: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Any]:  # type: ignore[override]
        """Yield the tokens."""
        yield from data
