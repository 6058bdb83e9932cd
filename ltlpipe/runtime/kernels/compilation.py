"""Kernels are compiled in a worker process, once per machine.

`ready` is a job: when it ends, a kernel can be called without compiling.  Machine code
that is on disk is loaded; otherwise a worker process compiles and writes it, so that
other jobs go on meanwhile, and Ctrl-C ends it at once.  Workers of several processes
that need the same kernel wait for each other: the second finds what the first has
written.  It does not wait for one that has been suspended.

Kernels and types travel as text: a kernel as "module:name", a type as nested lists.
What cannot be told in that way is compiled here, as Numba would at the first call.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime import workers
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.folders import cache_folder, is_ours, move_to
from ltlpipe.runtime.jobs import Grant, Progress, StoppedError
from ltlpipe.runtime.loading import loading
from ltlpipe.runtime.worker_process import IDLE_SECONDS, WorkerDiedError, turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.kernels.jit import Interim
    from ltlpipe.runtime.worker_process import Worker

# --- jobs -------------------------------------------------------------------


def ready(kernel: Any, *arguments: Any) -> Job[None]:
    """Have a kernel compiled for arguments of these types, or load its machine code."""
    from ltlpipe.runtime.kernels.jit import INTERPRETED

    if INTERPRETED:
        return
    kinds = tuple(map(kernel.typeof_pyval, arguments))
    if kinds in kernel.overloads:
        return

    @loading()
    def is_stored() -> bool:
        return _is_stored(kernel._cache, kinds, kernel.targetctx)

    yield from _stored(is_stored, kernel, list(kinds))
    yield Progress("loading kernels")
    with loading():
        kernel.compile(kinds)


def is_compiled(kernel: Any, *arguments: Any) -> bool:
    """Whether `ready` has nothing to compile; it may have to load machine code."""
    from ltlpipe.runtime.kernels.jit import INTERPRETED

    if INTERPRETED:
        return True
    kinds = tuple(map(kernel.typeof_pyval, arguments))
    stored = kernel._cache, kinds, kernel.targetctx
    return kinds in kernel.overloads or _is_stored(*stored)


def called(kernel: Any, *arguments: Any) -> Job[Any]:
    """Call a kernel that is compiled for one signature only, once it is ready."""
    if not getattr(kernel, "overloads", None):
        yield from ready(kernel, *arguments)
    return kernel(*arguments)


def ready_pointer(function: Callable[..., int], signature: Any) -> Job[None]:
    """Have what `ltlpipe.runtime.kernels.jit.pointer` makes compiled, or load it."""
    from ltlpipe.runtime.kernels.jit import INTERPRETED, pointer

    if INTERPRETED or (function, signature) in _POINTERS:
        return
    kinds = [signature.return_type, *signature.args]

    is_stored = partial(_pointer_is_stored, function, signature)
    yield from _stored(is_stored, function, kinds)
    yield Progress("loading kernels")
    with loading():
        pointer(function, signature)
    _POINTERS.add((function, signature))


@loading()
def _pointer_is_stored(function: Callable[..., int], signature: Any) -> bool:
    """Whether `ready_pointer` has nothing to compile."""
    from ltlpipe.runtime.kernels.jit import callback

    compiled = callback(function, signature)
    target = compiled._targetdescr.target_context
    return _is_stored(compiled._cache, compiled._sig, target)


def ready_expand_pointer(function: Callable[..., int]) -> Job[None]:
    """Have what `ltlpipe.runtime.kernels.jit.expand_pointer` makes compiled."""
    from ltlpipe.runtime.kernels.jit import EXPAND_SIGNATURE

    return ready_pointer(function, EXPAND_SIGNATURE)


_POINTERS: set[Any] = set()


def has_own_code(function: Callable[..., int]) -> bool:
    """Whether a successor function need not be compiled."""
    from ltlpipe.runtime.kernels.jit import EXPAND_SIGNATURE, INTERPRETED

    known = INTERPRETED or (function, EXPAND_SIGNATURE) in _POINTERS
    return known or _pointer_is_stored(function, EXPAND_SIGNATURE)


def worked(pointer: Interim, seconds: float) -> None:
    """Note how long a kernel has called an interim function; replace it in time.

    A worker compiles meanwhile.  This waits for nothing but the loading of the code;
    if there is none, as of a worker that has died, it is tried again much later.
    """
    pointer.seconds += seconds
    if pointer.lock.acquire(blocking=False):  # or another thread is at it
        try:
            _advanced(pointer)
        finally:
            pointer.lock.release()


def _advanced(pointer: Interim) -> None:
    if pointer.job is None and pointer.seconds > pointer.patience:
        kinds = [pointer.signature().return_type, *pointer.signature().args]
        is_stored = partial(_pointer_is_stored, pointer.function, pointer.signature())
        pointer.job = _stored(is_stored, pointer.function, kinds)
    if pointer.job is not None and not pointer.is_replaced:
        for _ in pointer.job:
            return
        if has_own_code(pointer.function):
            pointer.replace()
        else:
            pointer.job, pointer.patience = None, 2 * pointer.seconds


def _stored(is_stored: Callable[[], bool], subject: Any, kinds: list[Any]) -> Job[None]:
    """Have a worker compile a kernel or a function, unless that has been done.

    Where the folder of machine code does not take the file, another one does.
    """
    if is_stored():
        return
    compiled = yield from _compiled(subject, kinds)
    if compiled and not is_stored() and move_to():
        yield from _compiled(subject, kinds)


def _compiled(subject: Any, kinds: list[Any]) -> Job[bool]:
    """Have a worker compile, if it can be told what; say what is going on.

    Returns whether it has.  The time of a worker that does nothing is the question's.
    """
    function = getattr(subject, "py_func", subject)
    name = function.__name__.removesuffix("_step").replace("_", "-")
    said = Progress(f"compiling {name} (once per version)", compiling=True)
    try:
        place, file = _place(function)
        if _found(place, file) is not subject:
            raise TypeError(f"{place} is something else")
        told = [encoded_type(kind) for kind in kinds]
    except (TypeError, AttributeError, ImportError):
        yield said  # it is compiled here
        return False
    folder = str(cache_folder())
    order: dict[str, Any] = {"place": place, "file": file, "kinds": told}
    holders: list[int] = []  # of the kernel's lock
    leased: list[Worker] = []
    job = workers.call(
        "compile",
        subject=None,
        parts=holders,
        leaves=True,  # the next question needs it, too
        leased=leased.append,
        folder=folder,
        **order,
    )
    used, since = 0.0, time.monotonic()
    try:
        progress = next(job)
        while True:
            if leased[-1].cpu_seconds != used:
                used, since = leased[-1].cpu_seconds, time.monotonic()
            phase = said.phase
            if holders:
                phase += f", after process {holders[-1]}"
            is_idle = used > 0 and time.monotonic() - since > IDLE_SECONDS
            if is_idle:
                phase = f"waiting for process {leased[-1].pid}, which does nothing"
            yield Progress(phase, waits=progress.waits, compiling=not is_idle)
            progress = job.send(Grant())  # memory of the compiler is not the question's
    except StopIteration:
        return True
    except (RuntimeError, UnsupportedError, StoppedError, WorkerDiedError):
        yield said
        return False
    finally:
        job.close()


# --- in the worker ----------------------------------------------------------


def compile_there(
    place: str,
    file: str | None,
    kinds: list[Any],
    folder: str,
    tell: Callable[[int], None] | None = None,
) -> None:
    """Compile a kernel and keep its machine code, unless another process just has.

    Or that of a function which kernels take by its address.  `tell` is given the number
    of the process that is at it.
    """
    move_to(folder)
    with turn(place, tell):
        kernel = _found(place, file)
        types = tuple(map(decoded_type, kinds))
        if not hasattr(kernel, "overloads"):
            from ltlpipe.runtime.kernels.jit import callback

            callback(kernel, types[0](*types[1:])).compile()
            return
        kernel._cache.follow()
        if types in kernel.overloads:  # the former folder has not taken it
            kernel._cache.save_overload(types, kernel.overloads[types])
        kernel.compile(types)


# --- what is on disk --------------------------------------------------------


def _is_stored(stored: Any, kinds: Any, target: Any) -> bool:
    """Whether Numba finds the machine code for some types on disk."""
    from ltlpipe.runtime.kernels.jit import DAMAGED

    try:
        stored.follow()
        return bool(stored.has(kinds, target))
    except (AttributeError, *DAMAGED):  # no cache, or a damaged one
        return False


# --- names and types as text ------------------------------------------------


def _place(function: Any) -> tuple[str, str | None]:
    """Return "module:name" of a function or class, and a file that is no package's.

    Such files are generated ones in the folder of machine code, which no other user can
    write to.
    """
    place = f"{function.__module__}:{function.__qualname__}"
    file = getattr(sys.modules[function.__module__], "__file__", None)
    generated = file is not None and is_ours(file)
    return place, file if generated else None


def _found(place: str, file: str | None = None) -> Any:
    """Return what is at a place."""
    module, _, names = place.partition(":")
    if file is not None and module not in sys.modules:
        if not is_ours(file):
            raise ImportError(f"{file} is not in the folder of machine code")
        spec = spec_from_file_location(module, file)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[module] = made = module_from_spec(spec)
        spec.loader.exec_module(made)
    found: Any = sys.modules.get(module) or import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def encoded_type(kind: Any) -> Any:
    """Return a type of Numba as nested lists; TypeError if no kernel takes its kind."""
    told = _encoded_type(kind)
    if decoded_type(told) != kind:
        raise TypeError(f"{kind} cannot be told")
    return told


def _encoded_type(kind: Any) -> Any:
    import numba

    types: Any = numba.types
    if isinstance(kind, types.Array):
        dtype = encoded_type(kind.dtype)
        return ["array", dtype, kind.ndim, kind.layout, kind.mutable, kind.aligned]
    if isinstance(kind, types.BaseTuple):
        named = getattr(kind, "instance_class", tuple)
        place = None if named is tuple else _place(named)[0]
        return ["tuple", place, [encoded_type(part) for part in kind]]
    if isinstance(kind, types.IntEnumMember):
        place = _place(kind.instance_class)[0]
        return ["enum", place, encoded_type(kind.dtype)]
    if isinstance(kind, types.FunctionType):
        signature = kind.signature
        parts = [signature.return_type, *signature.args]
        return ["function", [encoded_type(part) for part in parts]]
    if isinstance(kind, (types.Number, types.Boolean, types.NoneType)):
        return ["plain", kind.name]
    raise TypeError(f"{kind} cannot be told")


def decoded_type(told: Any) -> Any:
    """Return the type that `encoded_type` was given."""
    import numba

    types: Any = numba.types
    kind, *about = told
    if kind == "array":
        dtype, ndim, layout, mutable, aligned = about
        return types.Array(
            decoded_type(dtype), ndim, layout, readonly=not mutable, aligned=aligned
        )
    if kind == "tuple":
        place, parts = about
        named: Any = None if place is None else _found(place)
        return types.BaseTuple.from_types([decoded_type(p) for p in parts], named)
    if kind == "enum":
        return types.IntEnumMember(_found(about[0]), decoded_type(about[1]))
    if kind == "function":
        returned, *given = map(decoded_type, about[0])
        return types.FunctionType(returned(*given))
    return types.boolean if about[0] == "bool" else getattr(types, about[0])
