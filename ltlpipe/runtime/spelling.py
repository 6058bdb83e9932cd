"""How messages name a parameter: as the caller has written it.

Messages are written with flags, ``--emptiness=se05``.  People at the command line read
``--emptiness se05``, callers from Python ``emptiness='se05'``; a parameter without a
value is ``--emptiness`` or ``emptiness=``.  Only names that have been declared are
parameters: the text of a file or of another program stays as it is.
"""

from __future__ import annotations

import re

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
