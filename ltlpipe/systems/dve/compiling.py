"""Generated modules on disk, imported once, compiled once and cached by Numba."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable


def successor_function(source: str) -> Callable[..., int]:
    """Return the function `expand` of generated source.

    Parameters
    ----------
    source : str
        As `ltlpipe.systems.dve.generating.generate` returns it.

    Returns
    -------
    function
        The same object for the same source; compiled by
        `expand_pointer`, which finds the machine code of earlier runs.

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
def _imported(source: str) -> Callable[..., int]:
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    name = f"ltlpipe_dve_{digest}"
    path = _written(name, source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks modules of cached code up by name
    spec.loader.exec_module(module)
    expand: Callable[..., int] = module.expand
    return expand


def _written(name: str, source: str) -> Path:
    """Return the file that holds some source, written unless it is there.

    Numba's cache asks whether a file has changed since: one that is there stays.
    """
    from ltlpipe.runtime.kernels.cache import cache_folder

    folder = cache_folder() / "dve"
    path = folder / f"{name}.py"
    if path.exists() and path.read_text(encoding="utf-8") == source:
        return path
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(source)
    Path(temporary).replace(path)  # two processes write the same
    return path
