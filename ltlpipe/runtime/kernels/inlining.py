"""Inlining of kernel parts, each read once.

Where a kernel calls an inlined part, Numba reads the part's byte code again, with all
parts that this calls in turn, and copies the result twice, each block with its own copy
of all local variables.  That was a third of the time that kernels take to compile.
Here a part is read once in a process and copied once for each call; names and machine
code stay the same.
"""

from __future__ import annotations

from typing import Any

from numba.core import bytecode, ir

_READ: dict[tuple[Any, str], Any] = {}
"""What parts have been read as, for each set of flags; never changed."""


def install() -> None:
    """Have Numba inline this package's kernel parts in this way."""
    from numba.core.inline_closurecall import InlineWorker

    worker: Any = InlineWorker
    if worker.inline_function is not _inline_function:
        _inline_function.numbas = worker.inline_function  # type: ignore[attr-defined]
        worker.inline_function = _inline_function


def _inline_function(
    worker: Any,
    caller: Any,
    block: Any,
    place: int,
    function: Any,
    arg_typs: Any = None,
) -> Any:
    """Do what Numba's method does, whose parameters these are."""
    if not function.__module__.startswith("ltlpipe."):
        numbas = _inline_function.numbas  # type: ignore[attr-defined]
        return numbas(worker, caller, block, place, function, arg_typs)
    worker.flags.enable_ssa = False  # as Numba does, before it reads
    key = function, repr(worker.flags)
    if key not in _READ:
        _READ[key] = worker.run_untyped_passes(function)
    part = _READ[key].copy()
    # Names of local variables begin with the number of this call.
    identity: Any = bytecode.FunctionIdentity
    part.func_id = identity.from_function(function)
    memo: dict[int, Any] = {}
    part.blocks = {label: _copied(b, memo) for label, b in part.blocks.items()}
    for own in part.blocks.values():
        own.__class__ = _Given
    names = function.__code__.co_freevars
    found = worker.inline_ir(caller, block, place, part, names, arg_typs=arg_typs)
    for _, own in found[-1]:
        own.__class__ = ir.Block
    return found


class _Given(ir.Block):
    """A block that is the inliner's own already: copying it would be for nothing."""

    def __deepcopy__(self, _memo: Any) -> _Given:
        return self


_PARTS = (ir.Inst, ir.Block, ir.Scope, ir.VarMap, ir.Var, ir.AbstractRHS)


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of a part of Numba's intermediate representation.

    What occurs twice does so in the copy; values of the program and places in its
    source, which nobody changes, are not copied.
    """
    kind = type(value)
    if kind in (list, tuple, set):
        return kind([_copied(one, memo) for one in value])
    if isinstance(value, dict):
        made: Any = value.copy()
        made.update((key, _copied(one, memo)) for key, one in value.items())
        return made
    if not isinstance(value, _PARTS):
        return value
    made = memo.get(id(value))
    if made is None:
        made = memo[id(value)] = object.__new__(kind)
        for key, one in value.__dict__.items():
            made.__dict__[key] = _copied(one, memo)
    return made
