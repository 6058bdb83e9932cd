"""Names that files give, as terminals show them: nothing in them is a control."""

from __future__ import annotations

import json

_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    r"""Return a text in which what cannot be printed is escaped.

    Examples
    --------
    >>> print(visible("red\x1b[31m, and\nnext"))
    red\x1b[31m, and\nnext
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def visible_lines(text: str) -> str:
    """Return a text of several lines, each of them `visible`."""
    return "\n".join(map(visible, text.splitlines()))


def quoted_name(name: str) -> str:
    """Return a name that can be told from its neighbours in a list.

    Examples
    --------
    >>> print(quoted_name("send"), quoted_name("two words"))
    send "two words"
    """
    if name and name.isprintable() and '"' not in name and " " not in name:
        return name  # no other blank can be printed
    text = json.dumps(name, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> print(counted(1, "state"), counted(1200, "step"))
    1 state 1,200 steps
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    width = 2 if code < 1 << 8 else 4 if code < 1 << 16 else 8
    letter = {2: "x", 4: "u", 8: "U"}[width]
    return _ESCAPED.get(character, f"\\{letter}{code:0{width}x}")
