"""Keys of machine code: they follow what a kernel is made of, and nothing else."""

import dis
import importlib.util
import pkgutil
import sys
from importlib import import_module
from types import FunctionType

import pytest

import ltlpipe
from ltlpipe.runtime.kernels.jit import (
    INTERPRETED,
    _global_names,
    kernel_key,
    type_key,
)

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

CALLEE = """
from enum import IntEnum
from ltlpipe.runtime.kernels.jit import called, inlined

STEP = 3
TABLE = (1, 2)

class Reg(IntEnum):
    DEPTH = 0
    UNUSED = 1

@inlined
def inner(number):
    return number + STEP

@called
def outer(number):
    "Document."
    return inner(number) + TABLE[0]

@called
def elsewhere(number):
    return number
"""

CALLER = """
from callee_of_test import Reg, outer
from ltlpipe.runtime.kernels.jit import njit

@njit
def kernel(numbers):
    numbers[Reg.DEPTH] = outer(numbers[Reg.DEPTH])
    return numbers[0]
"""


@pytest.fixture
def key_with(tmp_path, monkeypatch):
    """What makes the key of a kernel whose callees are in another, changed file."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def key(old="", new="", caller=CALLER):
        assert old in CALLEE + caller
        for name, text in (("callee_of_test", CALLEE), ("caller_of_test", caller)):
            path = tmp_path / f"{name}.py"
            path.write_text(text.replace(old, new) if old else text)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return kernel_key(module.kernel.py_func)

    return key


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STEP = 3", "STEP = 4"),
        ("TABLE = (1, 2)", "TABLE = (2, 2)"),
        ("DEPTH = 0", "DEPTH = 2"),
        ("number + STEP", "number - STEP"),
        ("+ TABLE[0]", "+ TABLE[1]"),
        ("@inlined", "@called"),
        ("@called\ndef outer", "@called(boundscheck=True)\ndef outer"),
    ],
)
def test_what_a_kernel_depends_on(key_with, old, new):
    """Constants, members and callees of callees, in other files; ways to compile."""
    assert key_with(old, new) != key_with()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STEP = 3", "# why\n\nSTEP = 3"),
        ('"Document."', '"Say more."'),
        ("UNUSED = 1", "UNUSED = 7"),
        ("    return number\n", "    return 2 * number\n"),
    ],
)
def test_what_it_does_not_depend_on(key_with, old, new):
    """Comments, docstrings, members and kernels that it does not use."""
    assert key_with(old, new) == key_with()


def test_what_has_no_key(key_with):
    caller = CALLER.replace("@njit", "LISTED = object()\n\n@njit").replace(
        "return numbers[0]", "return LISTED"
    )
    with pytest.raises(TypeError, match="no key can be made"):
        key_with(caller=caller)


def test_fields_of_named_tuples_and_members_are_part_of_types():
    from collections import namedtuple
    from enum import IntEnum

    import numba

    def key(fields, members):
        pair = namedtuple("Pair", fields)
        kind = IntEnum("Kind", members)
        return type_key([numba.typeof((pair(1, 2), kind(0)))])

    same = key("a b", {"X": 0})
    assert same == key("a b", {"X": 0})
    assert same != key("b a", {"X": 0})
    assert same != key("a b", {"Y": 0})
    assert type_key([numba.types.int64]) == ()


def test_every_kernel_of_the_package_has_a_key():
    """And no two kernels of different code have the same."""
    from numba.core.registry import CPUDispatcher

    keys = {}
    for module in pkgutil.walk_packages(ltlpipe.__path__, "ltlpipe."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, CPUDispatcher):
                function = value.py_func
            elif isinstance(value, FunctionType) and value.__name__ == "expand_network":
                function = value
            else:
                continue
            keys.setdefault(kernel_key(function), set()).add(function.__code__.co_code)

    assert len(keys) > 300
    assert all(len(codes) == 1 for codes in keys.values())


def test_globals_that_a_code_reads():
    """As `dis` tells them, also where their numbers do not fit into a byte."""
    names = {f"name{k}" for k in range(600)}
    body = "".join(f"    {name}()\n" for name in sorted(names))
    code = compile(f"def f(x):\n{body}    return x.attribute\n", "f", "exec")

    read = {i.argval for i in dis.get_instructions(code.co_consts[0])}
    assert _global_names(code) == names == read & names


def test_an_index_that_names_what_has_gone(tmp_path, monkeypatch):
    """It is replaced: the next process compiles nothing."""
    import pickle
    from pathlib import Path

    from numba import types

    path = tmp_path / "kernel_of_test.py"
    path.write_text(
        "from ltlpipe.runtime.kernels.jit import njit\n\n"
        "@njit\ndef kernel(number):\n    return number + 1\n"
    )

    def load():
        spec = importlib.util.spec_from_file_location("kernel_of_test", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kernel_of_test", module)
        spec.loader.exec_module(module)
        return module.kernel

    def hits():
        kernel = load()
        kernel.compile((types.int64,))
        assert kernel(1) == 2
        return kernel.stats.cache_hits

    cached = load()._cache
    hits()
    assert sum(hits().values()) == 1
    gone = b"cltlpipe.no_such_module\nKind\n."  # a pickled reference to a class
    Path(cached._cache_file._index_path).write_bytes(
        pickle.dumps(cached._cache_file._version) + gone
    )
    assert not hits()
    assert sum(hits().values()) == 1
