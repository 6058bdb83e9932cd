"""Generated source as a module, which Numba can find again."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import rewriting

if TYPE_CHECKING:
    from pathlib import Path


def successor_functions(source: str) -> Any:
    """Return the module of generated source, the same for the same source.

    It has `expand` and `expand_orbits`.  A function is compiled by `expand_pointer`,
    which finds the machine code of earlier runs.

    Raises
    ------
    UnsupportedError
        An expression is nested deeper than Python can read.
    """
    try:
        return _imported(source)
    except SyntaxError as error:
        if "nested" not in str(error):
            raise
        message = "an expression of the model is nested too deeply to be compiled"
        raise UnsupportedError(message) from None


@cache
def _imported(source: str) -> Any:
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    name = f"ltlpipe_dve_{digest}"
    path = _written(name, source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks modules of cached code up by name
    spec.loader.exec_module(module)
    return module


def _written(name: str, source: str) -> Path:
    """Return the file that holds some source, written unless it is there.

    Numba's cache asks whether a file has changed since: one that is there stays.
    """
    from ltlpipe.runtime.folders import cache_folder, move_to

    path = cache_folder() / "dve" / f"{name}.py"
    if path.exists() and path.read_text(encoding="utf-8") == source:
        return path
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with rewriting(path) as stream:  # two processes write the same
            stream.write(source.encode())
    except OSError:
        if not move_to():
            raise
        return _written(name, source)
    return path
