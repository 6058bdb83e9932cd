"""Keys of machine code: what a kernel is made of, and nothing else.

Numba's cache notices a change of the file that holds a kernel, but not of another file
that the kernel calls into.  The key of a kernel is therefore a hash of its byte code
and of everything that its byte code names: the kernels that it calls, with what these
name, the constants that Numba compiles into it, and the fields of the named tuples that
it takes.  Comments, docstrings, places in a file and code that no kernel calls are not
in it, so changing them compiles nothing.
"""

from __future__ import annotations

import dis
import enum
import hashlib
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_OUTSIDE = (ModuleType, BuiltinFunctionType, np.ufunc, np.dtype)
"""Told by their names: a library's version is not the kernels' to notice, but Numba's
and Python's, which its cache looks at."""


@cache
def kernel_key(function: Any) -> str:
    """Return a hash of a kernel's closure (64 hexadecimal digits).

    Parameters
    ----------
    function : function
        The kernel in Python, before Numba has compiled it.

    Raises
    ------
    TypeError
        It, or a kernel that it calls, names something of which no hash can be made.
    """
    digest = hashlib.sha256()
    seen = {function}
    waiting = [function]
    while waiting:
        current = waiting.pop()
        for part in _parts(current):
            called = _function_of(part)
            if called is not None and called not in seen:
                seen.add(called)
                waiting.append(called)
            digest.update(_told(part).encode() + b"\0")
    return digest.hexdigest()


def type_key(kinds: Any) -> tuple[Any, ...]:
    """Return the fields and members that compiled code reads of the types it takes.

    Numba tells named tuples and enumerations by their classes, which are found again by
    name: fields in another order, or other values, would go unnoticed.

    Parameters
    ----------
    kinds : Signature or sequence of types
        What Numba's cache calls the signature of an overload.
    """
    found: dict[str, tuple[str, ...]] = {}
    waiting = list(getattr(kinds, "args", kinds))
    while waiting:
        kind = waiting.pop()
        owner: Any = getattr(kind, "instance_class", None)
        if hasattr(owner, "_fields"):
            found[_name(owner)] = owner._fields
            waiting += list(kind)
        elif owner is not None:
            found[_name(owner)] = tuple(map(repr, owner))
        elif hasattr(kind, "types"):
            waiting += list(kind.types)
    return tuple(sorted(found.items()))


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _function_of(value: Any) -> Any:
    """Return the Python function behind a kernel or an intrinsic; None without one."""
    behind = getattr(value, "py_func", None) or getattr(value, "_defn", None)
    if behind is None and isinstance(value, FunctionType):
        return value
    return behind


def _parts(function: Any) -> Iterator[Any]:
    """Yield what a function is made of: code, then what the code names, by name."""
    code: CodeType = function.__code__
    yield function.__qualname__
    yield _without_docstring(function)
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    names = _names(code)
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        yield name
        if isinstance(value, type) and issubclass(value, enum.Enum):
            yield tuple((m, value[m].value) for m in value.__members__ if m in names)
        elif _is_kernels(value) or name in _global_names(code):
            yield value  # else an attribute that has the name of something global


def _names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a code and in those within it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


@cache
def _global_names(code: CodeType) -> set[str]:
    """Return the names that a code, or one within it, reads as globals."""
    found = {i.argval for i in dis.get_instructions(code) if "GLOBAL" in i.opname}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _global_names(constant)
    return found


def _without_docstring(function: Any) -> CodeType:
    code: CodeType = function.__code__
    constants = code.co_consts
    if constants and constants[0] is not None and constants[0] == function.__doc__:
        return code.replace(co_consts=(None, *constants[1:]))
    return code


def _is_kernels(value: Any) -> bool:
    """Whether something can only be meant for kernels: looked for in byte code no more.

    Reading the byte code takes longer than what it may spare.
    """
    return hasattr(value, "targetoptions") or isinstance(value, (int, np.generic))


def _told(value: Any) -> str:
    """Return a text that is the same in every process iff the value is.

    Functions are told by their names: `kernel_key` follows them.
    """
    if _function_of(value) is not None:
        options = getattr(value, "targetoptions", {})
        function = _function_of(value)
        return (
            f"{function.__module__}.{function.__qualname__} {sorted(options.items())}"
        )
    if isinstance(value, CodeType):
        constants = ",".join(map(_told, value.co_consts))
        names = (value.co_names, value.co_varnames, value.co_freevars)
        return f"{value.co_code.hex()} {constants} {names} {value.co_flags}"
    if isinstance(value, tuple):
        return f"({','.join(map(_told, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_told, value)))}}}"
    if isinstance(value, dict):
        return _told(tuple(sorted(value.items())))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, (int, float, str, bytes, np.generic, type(None))):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, _OUTSIDE):
        return getattr(value, "__name__", str(value))
    if isinstance(value, type):
        return f"{_name(value)} {getattr(value, '_fields', ())}"
    raise TypeError(f"a kernel depends on {value!r}, of which no key can be made")
