"""The decorators that compile kernels.

Kernel modules take `njit` from here and nothing else from Numba, so that every
kernel is cached, releases the interpreter lock and divides like NumPy.

Keys of machine code: what a kernel is made of, and nothing else.

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
import sys
from contextlib import suppress
from functools import cache, cached_property, partial
from pathlib import Path
from pickle import UnpicklingError, loads
from threading import Lock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.folders import cache_folder, remove_unused
from ltlpipe.runtime.kernels import shipped
from ltlpipe.runtime.loading import ALONE, note_compiler
from ltlpipe.runtime.worker_process import turn

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOAD_GLOBAL = dis.opmap["LOAD_GLOBAL"]
_PUSHES = int(sys.version_info >= (3, 11))  # bits that tell what else is pushed
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
    found, extended = set(), 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        number = extended | low  # `dis` takes ten times as long to say so
        extended = number << 8 if operation == dis.EXTENDED_ARG else 0
        if operation == _LOAD_GLOBAL:
            found.add(code.co_names[number >> _PUSHES])
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


with ALONE:
    import numba
    import numba.experimental.function_type  # what takes a `_Pointer`
    from llvmlite import ir
    from numba import types
    from numba.core import caching, ccallback, cgutils, event, sigutils
    from numba.extending import intrinsic, typeof_impl

if TYPE_CHECKING:
    from collections.abc import Callable

_config: Any = numba.config
_PACKAGE = Path(__file__).parents[2]
_caching: Any = caching
_sigutils: Any = sigutils
_event: Any = event


DAMAGED = (OSError, EOFError, ValueError, UnpicklingError, ImportError, AttributeError)
"""What Numba raises where files of machine code are damaged, or cannot be.

The last two: a file of an earlier version may name a module or class that has gone.
"""


class _Listener(event.Listener):
    """Has it counted for how long a thread compiles."""

    def on_start(self, _event: Any) -> None:
        note_compiler(1)

    def on_end(self, _event: Any) -> None:
        note_compiler(-1)


_event.register("numba:compile", _Listener())


class _ByPlaceInPackage(_caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """Keeps the machine code of a kernel under the kernel's place in the package.

    Numba has the place on disk instead, and lines and times of files, so that a second
    copy of the same sources, or one with a comment more, would compile every kernel
    anew.  Which version of a kernel it is the key says (`_KernelCache`).
    """

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        return cls(py_func, py_file)  # whether it takes files shows when one is written

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return "kernel"

    @classmethod
    @cache
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        file = Path(py_file)
        # Generated ones have names that are hashes of their sources.
        for folder in (_PACKAGE, cache_folder()):
            if file.is_relative_to(folder):
                return ".".join(file.relative_to(folder).with_suffix("").parts)
        return str(super().get_suitable_cache_subpath(py_file))


class _KernelImpl(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_ByPlaceInPackage,)

    def reduce(self, data: Any) -> tuple[Any, ...]:
        """Leave out the annotated source, which names this machine's folders."""
        return tuple(super().reduce(data._replace(type_annotation="")))


class _KernelCache(_caching.FunctionCache):  # type: ignore[misc]
    """Machine code under the key of its kernel (`ltlpipe.runtime.kernels.jit`).

    Versions of a kernel lie side by side: a branch that is checked out, or a second
    clone, compiles what differs and finds the rest.  What the package brings
    (`ltlpipe.runtime.kernels.shipped`) is looked at first, and never written.
    """

    _impl_class = _KernelImpl

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._folder = _config.CACHE_DIR = str(cache_folder())
        super().__init__(function)
        self._given, self._options = options, str(sorted(options.items()))

    def follow(self) -> None:
        """Look into the folder that is used by now."""
        if self._folder != str(cache_folder()):
            self.__init__(self._py_func, self._given)  # type: ignore[misc]

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether there is machine code for some types; DAMAGED where that is."""
        codegen = target_context.codegen()
        if self._shipped(sig, codegen) is not None:
            return True
        name = self._cache_file._load_index().get(self._index_key(sig, codegen))
        return name is not None and Path(self._cache_file._data_path(name)).exists()

    def _index_key(self, sig: Any, codegen: Any) -> str:
        return self._key(sig, codegen.magic_tuple())

    def _key(self, sig: Any, processor: tuple[str, ...]) -> str:
        """Return a text, so that reading an index imports nothing that has gone."""
        settings = (self._options, _config.OPT, _config.BOUNDSCHECK, processor)
        closure = kernel_key(self._py_func)
        return f"{closure} {type(sig).__name__} {sig} {type_key(sig)} {settings}"

    def _shipped(self, sig: Any, codegen: Any) -> bytes | None:
        if not shipped.are_usable():
            return None
        processor = (codegen.magic_tuple()[0], shipped.PROCESSOR, "")
        return shipped.found(self._key(sig, processor))

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        body = self._shipped(sig, target_context.codegen())
        if body is not None:
            with suppress(*DAMAGED):
                return self._impl.rebuild(target_context, loads(body))
        return super()._load_overload(sig, target_context)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load machine code, without all that Numba first imports for compiling.

        Kernels call none of it: they allocate nothing (`_FLAGS`).
        """
        found = None
        try:
            found = self._load_overload(sig, target_context)
        except DAMAGED:  # as if it were not there: else it could not be replaced either
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink(missing_ok=True)
        if found is None:  # it is compiled next
            from ltlpipe.runtime.kernels import inlining

            inlining.install()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, where that is possible.

        Numba rewrites the index of a kernel, for whatever types and versions: two that
        do so at once could take the same file for different code.
        """
        with (
            turn(f"{self._cache_path} {self._impl.filename_base}") as is_alone,
            suppress(*DAMAGED),
        ):
            if is_alone:
                super().save_overload(sig, data)
                remove_unused()


def _kept(compiler: Any, function: Any) -> Any:
    """Have a compiler keep its machine code, if it is of a function with a file."""
    if not INTERPRETED and Path(function.__code__.co_filename).is_file():
        options = getattr(compiler, "targetoptions", _POINTER_FLAGS)
        compiler._cache = _KernelCache(function, options)
    return compiler


INTERPRETED = bool(_config.DISABLE_JIT)
"""Whether kernels run as plain Python (``NUMBA_DISABLE_JIT=1``)."""

# Reference counts of the arrays in a tuple cost more than the work on them, and
# kernels own none: without Numba's runtime (`_nrt`) they are not counted, and a
# kernel that tried to allocate would not compile.
_FLAGS = {"error_model": "numpy", "_nrt": False}
# Copied into what has its address, a function is given its arguments once, not twice.
_POINTER_FLAGS = {**_FLAGS, "forceinline": True}


def njit(function: Any = None, **flags: Any) -> Any:
    """Make a kernel that Python calls."""
    if function is None:
        return partial(njit, **flags)
    untyped: Any = numba
    return _kept(untyped.njit(nogil=True, **_FLAGS, **flags)(function), function)


# Parts of kernels are never called from Python: without wrappers they compile in a
# fraction of the time (and a call from Python would crash).
_part: Any = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)

inlined: Any = partial(_part, inline="always")
"""Makes a part of a kernel, which is compiled with each kernel that uses it."""

specialised: Any = partial(_part, forceinline=True)
"""Makes a part of a kernel that is compiled once per types of its arguments.

Branches on ``argument is None`` are decided then and leave no code.  Each level of
such calls is optimised anew with all that it calls: nest them sparingly.  Like
`inlined` ones they are copied into their callers, as a real call with tuples of
arrays would copy these.
"""

called: Any = _part
"""Makes a part of a kernel that is compiled once and called.

For parts that do so much that copying their arguments does not count.
"""

_types: Any = types
_typeof: Any = typeof_impl

EXPAND_SIGNATURE = types.int64(
    types.int64[::1],  # ints
    types.uint64[::1],  # words
    types.uint64[::1],  # row
    types.int64,  # select
    types.uint64[:, ::1],  # out_rows
    types.int32[::1],  # out_letters
    types.int32[::1],  # out_actions
    types.uint32[::1],  # out_marks
)
"""The one signature of successor functions; see `ltlpipe.systems.networks.packing`."""


def operation_signature(tables: type) -> Any:
    """Return the one signature of operations on sets, whose first argument is `tables`.

    A named tuple of arrays; see `ltlpipe.symmetry.sets.powerset_search`.
    """
    rows = types.uint64[:, ::1]
    kinds = (
        types.int64[::1],  # ints
        types.uint64[::1],  # words
        types.int64[:, ::1],  # scratch
        rows,  # step_rows
    )
    return types.int64(
        _types.NamedTuple(kinds, tables),
        types.uint64[::1],  # row
        types.uint64[::1],  # other
        rows,  # out_rows
        types.uint32[::1],  # out_marks
    )


class _Pointer(types.WrapperAddressProtocol):
    """A compiled function as kernels take it: by its address."""

    def __init__(self, compiled: Any, signature: Any) -> None:
        self.compiled = compiled  # keeps the machine code alive
        self._signature = signature

    @cached_property
    def _numba_type_(self) -> Any:
        """Its type for Numba, which would make it at each call of a kernel."""
        return types.FunctionType(self._signature)

    def __wrapper_address__(self) -> int:
        return int(self.compiled.address)

    def signature(self) -> Any:
        return self._signature


_typeof.register(_Pointer)(lambda pointer, _context: pointer._numba_type_)


class Interim(_Pointer):
    """A function that another one replaces when its machine code is there.

    Kernels ask for the address whenever they are called from Python.
    """

    def __init__(
        self, meanwhile: _Pointer, function: Callable[..., int], patience: float
    ) -> None:
        super().__init__(meanwhile.compiled, meanwhile.signature())
        self.function = function
        self.seconds = 0.0  # of kernels that have called it
        self.patience = patience  # seconds of them before it is compiled
        self.job: Any = None  # compiles the function
        self.lock = Lock()  # of the job
        self.is_replaced = False

    def replace(self) -> None:
        """Take the function's own machine code, which is there, from now on."""
        self.compiled = pointer(self.function, self.signature()).compiled
        self.is_replaced = True


@cache
def pointer(function: Callable[..., int], signature: Any) -> Any:
    """Return `function` in the form in which every kernel accepts it.

    Passing an address instead of a dispatcher keeps one compiled version of
    each kernel for all functions of a signature.
    """
    if INTERPRETED:
        return function
    compiled = callback(function, signature)
    compiled.compile()
    return _Pointer(compiled, signature)


def callback(function: Callable[..., int], signature: Any) -> Any:
    """Return what compiles a function that is called by its address."""
    kinds = _sigutils.normalize_signature(signature)
    made: Any = ccallback.CFunc(function, kinds, locals={}, options=_POINTER_FLAGS)
    return _kept(made, function)


def expand_pointer(function: Callable[..., int]) -> Any:
    """Return a successor function in the form in which every search accepts it."""
    return pointer(function, EXPAND_SIGNATURE)


@cache
def interim_pointer(
    meanwhile: Callable[..., int], function: Callable[..., int], seconds: float
) -> Interim:
    """Return the same for a function that another one stands for until later.

    Until kernels have called it for so many seconds, and it has been compiled.
    """
    return Interim(expand_pointer(meanwhile), function, seconds)


N_LOCALS = 1 << 10
"""Numbers of `locals_`."""

if INTERPRETED:

    def prefetch(array: Any, index: Any) -> None:
        """Do nothing: plain Python has no cache to warm."""

    def trailing_zeros(word: Any) -> int:
        """Return the number of the lowest bit of a word that is not 0."""
        return (int(word) & -int(word)).bit_length() - 1

    def locals_() -> Any:
        """Return numbers for a call's own use."""
        return np.zeros(N_LOCALS, dtype=np.int64)

else:

    @intrinsic
    def prefetch(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
        """Ask for the cache line of ``array[index]`` (first axis) ahead of time."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = signature.args[0]
            view = context.make_array(kind)(context, builder, args[0])
            zero = context.get_constant(types.intp, 0)
            tools: Any = cgutils
            where = tools.get_item_pointer2(
                context,
                builder,
                view.data,
                tools.unpack_tuple(builder, view.shape, kind.ndim),
                tools.unpack_tuple(builder, view.strides, kind.ndim),
                kind.layout,
                [args[1]] + [zero] * (kind.ndim - 1),
            )
            pointer = ir.IntType(8).as_pointer()
            number = ir.IntType(32)
            target = builder.module.declare_intrinsic(
                "llvm.prefetch",
                [pointer],
                ir.FunctionType(ir.VoidType(), [pointer, number, number, number]),
            )
            read, keep, data = number(0), number(3), number(1)
            builder.call(target, [builder.bitcast(where, pointer), read, keep, data])
            return context.get_dummy_value()

        return types.void(array, types.int64), generate

    @intrinsic
    def trailing_zeros(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
        """Return the number (int64) of the lowest bit of a uint64 that is not 0."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            return builder.cttz(args[0], ir.IntType(1)(1))

        return types.int64(types.uint64), generate

    @intrinsic
    def locals_(typing_context: Any) -> Any:  # noqa: ARG001
        """Return int64[N_LOCALS] on the stack, for use until the caller returns."""
        kind: Any = types.int64[::1]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            tools: Any = cgutils
            view = context.make_array(kind)(context, builder)
            count, size = (context.get_constant(types.intp, n) for n in (N_LOCALS, 8))
            context.populate_array(
                view,
                data=tools.alloca_once(builder, ir.IntType(64), size=N_LOCALS),
                shape=[count],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return view._getvalue()

        return kind(), generate
