"""Spelling of names and counts in messages.

Parameters are named as the caller has written them.  Messages are written with flags,
``--emptiness=se05``.  People at the command line read ``--emptiness se05``, callers
from Python ``emptiness='se05'``; a parameter without a value is ``--emptiness`` or
``emptiness=``.  Only names that have been declared are parameters: the text of a file
or of another program stays as it is.

Names that files give are shown as terminals can show them: nothing in them is a
control.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DECLARED: dict[str, str] = {}
_FLAG = re.compile(
    r"(?<![\w-])--(?P<name>[a-z][a-z-]*)"
    r"(?:=(?P<value>'[^'\n]*'|\"[^\"\n]*\"|[^\s;()]+?(?=[,.:]*(?:[\s;()]|$))))?"
)
_PLAIN = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?|inf|True|False|None|['\"].*", re.DOTALL)

FLAGS, PARAMETERS, AS_WRITTEN = "flags", "parameters", "as written"
"""Ways to name parameters; worker processes leave the choice to who started them."""

_way = PARAMETERS


def declare(*names: str, **others: str) -> None:
    """Declare parameters by their names in Python.

    The keys of `others` are flags, with underscores, that have another name there.
    """
    _DECLARED.update({name.replace("_", "-"): name for name in names})
    _DECLARED.update({flag.replace("_", "-"): name for flag, name in others.items()})


def name_as(way: str) -> None:
    """Have messages name `FLAGS`, or `PARAMETERS`, or leave them `AS_WRITTEN`."""
    global _way
    _way = way


def spelled(message: str, way: str | None = None) -> str:
    """Return a message that names parameters as the caller has written them.

    `way` is how, if not as `name_as` says.

    Examples
    --------
    >>> declare("emptiness", no_lasso="lasso=False")
    >>> spelled("use --emptiness=tela, and --no-lasso: --emptiness says what")
    "use emptiness='tela', and lasso=False: emptiness= says what"
    """
    way = way or _way
    if way == AS_WRITTEN:
        return message
    return _FLAG.sub(_as_flag if way == FLAGS else _as_parameter, message)


def _as_flag(found: re.Match[str]) -> str:
    value = found["value"]
    if value is None or found["name"] not in _DECLARED:
        return found[0]
    inner = value[1:-1] if value[0] in "'\"" else value
    return f"--{found['name']} {value if ' ' in inner or not inner else inner}"


def _as_parameter(found: re.Match[str]) -> str:
    name, value = _DECLARED.get(found["name"]), found["value"]
    if name is None:
        return found[0]
    if value is None:
        return name if "=" in name else f"{name}="
    return f"{name}={value if _PLAIN.fullmatch(value) else repr(value)}"


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
    import json  # a folder may have a file of this name

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


_NEAREST = 3  # names that a message offers


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known names that are most like a name, as the end of a message."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), list(folded), _NEAREST, 0.5)
    near = [folded[one] for one in close]
    return f"; did you mean {listed(near)}?" if near else ""


def listed(words: Sequence[str]) -> str:
    """Return ``a, b or c``."""
    *most, end = words
    return f"{', '.join(most)} or {end}" if most else end


def quoted(text: str) -> str:
    """Return a string as it is written in DOT and in HOA."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
