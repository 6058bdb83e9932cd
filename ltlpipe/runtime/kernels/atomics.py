"""Atomic operations on the entries of an array, for kernels in several threads.

An array has one dimension, is contiguous and holds integers; an index is not negative
and within bounds, which is not checked.

Memory orders are those of C11.  `load` acquires and `store` releases: what a thread has
written before it stores a value is seen by a thread that loads that value.  All other
operations are sequentially consistent: there is one order of them in which all threads
see them, and they are full fences.  A `compare_and_swap` that fails acquires.

Interpreted (``NUMBA_DISABLE_JIT=1``) they are Python under one lock, and `between` is
called before each, so that a test can switch threads there.
"""

from __future__ import annotations

import operator
import threading
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.kernels.jit import INTERPRETED
from ltlpipe.runtime.loading import ALONE

with ALONE:
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

if INTERPRETED:
    _lock = threading.Lock()

    between: Callable[[], None] | None = None
    """Called before each operation, without the lock."""

    def _atomic(operation: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(operation)
        def made(*given: Any) -> Any:
            if between is not None:
                between()
            with _lock:
                return operation(*given)

        return made

    @_atomic
    def load(array: Any, index: Any) -> Any:
        """Return an entry (acquire)."""
        return array[index]

    @_atomic
    def store(array: Any, index: Any, value: Any) -> None:
        """Write an entry (release)."""
        array[index] = value

    @_atomic
    def compare_and_swap(array: Any, index: Any, old: Any, new: Any) -> bool:
        """Write an entry if it is `old`; return whether it was."""
        is_old = bool(array[index] == old)
        if is_old:
            array[index] = new
        return is_old

    def _changed_by(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        @_atomic
        def made(array: Any, index: Any, value: Any) -> Any:
            before = array[index]
            array[index] = change(before, array.dtype.type(value))
            return before

        return made

    fetch_add = _changed_by(operator.add)
    fetch_or = _changed_by(operator.or_)
    exchange = _changed_by(lambda _, new: new)

    def pause() -> None:
        """Let other threads go on, while waiting for one of them."""
        time.sleep(0)

    give_way = pause

else:

    def _entry(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
        """Return the address of an entry, and its size in bytes."""
        view = context.make_array(kind)(context, builder, array)
        return builder.gep(view.data, [index]), kind.dtype.bitwidth // 8

    def _integers(array: Any) -> Any:
        """Return the type of an array's entries; TypingError for other arrays."""
        plain = isinstance(array, types.Array) and array.ndim == 1
        if (
            not plain
            or array.layout != "C"
            or not isinstance(array.dtype, types.Integer)
        ):
            raise TypingError(f"a contiguous array of integers is needed, not {array}")
        return array.dtype

    @intrinsic
    def load(typing_context: Any, array: Any, index: Any) -> Any:
        """Return an entry (acquire)."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry, size = _entry(context, builder, signature.args[0], *args)
            kind = context.get_value_type(signature.return_type)
            return builder.load_atomic(entry, "acquire", size, typ=kind)

        return _integers(array)(array, types.int64), generate

    @intrinsic
    def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        """Write an entry (release)."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry, size = _entry(context, builder, signature.args[0], *args[:2])
            builder.store_atomic(args[2], entry, "release", size)
            return context.get_dummy_value()

        return types.void(array, types.int64, _integers(array)), generate

    @intrinsic
    def compare_and_swap(
        typing_context: Any,
        array: Any,
        index: Any,
        old: Any,
        new: Any,
    ) -> Any:
        """Write an entry if it is `old`; return whether it was."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry, _ = _entry(context, builder, signature.args[0], *args[:2])
            both = builder.cmpxchg(entry, args[2], args[3], "seq_cst", "acquire")
            return builder.extract_value(both, 1)

        kind = _integers(array)
        return types.boolean(array, types.int64, kind, kind), generate

    def _read_modify_write(operation: str, line: str) -> Any:
        def made(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                entry, _ = _entry(context, builder, signature.args[0], *args[:2])
                return builder.atomic_rmw(operation, entry, args[2], "seq_cst")

            kind = _integers(array)
            return kind(array, types.int64, kind), generate

        made.__doc__ = line
        return intrinsic(made)

    fetch_add = _read_modify_write("add", "Add to an entry; return what it was.")
    fetch_or = _read_modify_write("or", "Set bits of an entry; return what it was.")
    exchange = _read_modify_write("xchg", "Write an entry; return what it was.")

    @intrinsic
    def pause(typing_context: Any) -> Any:
        """Spend a moment, while waiting for another thread, without its memory."""
        from llvmlite import binding, ir

        is_x86 = binding.get_default_triple().startswith(("x86_64", "i"))

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if is_x86:
                nothing = ir.FunctionType(ir.VoidType(), [])
                name = "llvm.x86.sse2.pause"
                builder.call(builder.module.declare_intrinsic(name, [], nothing), [])
            return context.get_dummy_value()

        return types.void(), generate

    @intrinsic
    def give_way(typing_context: Any) -> Any:
        """Let another thread have the core, where there are more threads than cores."""
        from llvmlite import ir

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.IntType(32), [])
            tools: Any = cgutils
            call = tools.get_or_insert_function(builder.module, kind, "sched_yield")
            builder.call(call, [])
            return context.get_dummy_value()

        return types.void(), generate
