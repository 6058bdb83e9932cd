"""Parts are inlined as Numba inlines them, but read once."""

from __future__ import annotations

import re

import numba
import numpy as np
from numba.core.inline_closurecall import InlineWorker

from ltlpipe.runtime.kernels import inlining, jit
from ltlpipe.search.registers import Reg
from ltlpipe.search.store import Store, fill_slots


def machine_code(*arguments):
    """What a kernel with inlined parts is compiled to, without names of symbols."""
    kernel = numba.njit(nogil=True, **jit._FLAGS)(fill_slots.py_func)
    kernel.compile(tuple(map(numba.typeof, arguments)))
    (text,) = kernel.inspect_asm().values()
    lines = [re.sub(r"(_Z|\.const\.)[\w.$@]*", "", line) for line in text.splitlines()]
    return [line for line in lines if re.match(r"\t[a-z]|\.LBB", line)]


def test_machine_code_is_that_without(monkeypatch):
    """Twice, since the second kernel takes what the first has read."""
    store = Store(np.zeros((64, 2), np.uint64), np.zeros(128, np.uint32))
    arguments = store, np.zeros(len(Reg), np.int64), 0, 1
    inlining.install()
    numbas = inlining._inline_function.numbas
    with monkeypatch.context() as patch:
        patch.setattr(InlineWorker, "inline_function", numbas)
        expected = machine_code(*arguments)
    assert len(expected) > 100
    inlining._READ.clear()
    for _ in range(2):
        assert machine_code(*arguments) == expected
    assert fill_slots.py_func.__globals__["home_slot"].py_func in {
        function for function, _ in inlining._READ
    }
