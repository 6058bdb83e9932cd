"""Generated successor functions run as plain Python, without compiling them.

Machine code takes seconds per model; as plain Python hundreds of random models can be
compared with the interpreter.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

import ltlpipe
from ltlpipe.runtime.kernels.jit import expand_pointer, njit
from ltlpipe.systems.networks import packing
from ltlpipe.systems.networks.packing_kernels import Select
from ltlpipe.systems.programs import program

_IMPORTED = {
    "successor_": (packing, ("BLOCKED", "LEADS", "Entry")),
    "programs/": (program, ("ATOMIC", "D_STEP", "BLOCKED", "ENDLESS", "FULL")),
}
_ROOT = Path(ltlpipe.__file__).parent / "systems"
_IMPORTS = re.compile(r"^from ltlpipe[\w.]* import (\((.|\n)*?\)|.*)$", re.MULTILINE)


def _namespace(text, given):
    names = dict(given)
    for marker in ("called", "inlined", "specialised"):
        names[marker] = lambda function: function
    exec(_IMPORTS.sub("", text), names)
    return names


def _kernels():
    names = {}
    for folder in ("networks/packing_", "propositions/", "successor_", "programs/"):
        if folder in _IMPORTED:  # BLOCKED is a number of each
            module, imported = _IMPORTED[folder]
            names |= {name: getattr(module, name) for name in imported}
        names = _namespace((_ROOT / f"{folder}kernels.py").read_text(), names)
    return names


_KERNELS = _kernels()


def plain_functions(source):
    """The functions of a generated module, as plain Python."""
    return SimpleNamespace(**_namespace(source, _KERNELS))


class Buffers(NamedTuple):
    """What successor functions write to."""

    rows: np.ndarray
    letters: np.ndarray
    actions: np.ndarray
    marks: np.ndarray


def buffers(packed):
    """Room for the successors of one state, filled with garbage."""
    size, n_words = packed.max_successors, len(packed.initial)
    return Buffers(
        np.full((size, n_words), 0xDEADBEEF, dtype=np.uint64),
        np.full(size, -7, dtype=np.int32),
        np.full(size, -7, dtype=np.int32),
        np.full(size, 7, dtype=np.uint32),
    )


@njit
def _call(expand, ints, words, row, select, rows, letters, actions, marks):
    return expand(ints, words, row, select, rows, letters, actions, marks)


def compiled(function):
    """A successor function as Python calls it."""
    return partial(_call, expand_pointer(function))


def successors(expand, packed, row, select=Select.ALL):
    """What a successor function says of a row: rows, letters, actions, marks."""
    made = buffers(packed)
    count = expand(packed.ints, packed.words, row, int(select), *made)
    return Buffers(*(array[:count] for array in made))
