"""Reading systems from files, in the format that the suffix names.

`load` reads a model from its file, or the components that one or several files hold,
which are a network.  Nothing but an
error of `ltlpipe` escapes, and what cannot be of its format is refused by its
beginning, however long it is.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.automata.hoa import HOA_OPENING
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import Opening, read_text
from ltlpipe.systems.aut import read_aut
from ltlpipe.systems.dot import read_dot
from ltlpipe.systems.hoa import read_hoa
from ltlpipe.systems.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.models import Model, System


class _Format(NamedTuple):
    read: Callable[[str, str], list[LTS]]  # from text and file name
    opening: Opening


_DOT = _Format(
    read_dot, Opening(re.compile(r"(?i:strict|digraph)\b"), "a Graphviz 'digraph'")
)
_FORMATS = {
    ".dot": _DOT,
    ".gv": _DOT,
    ".aut": _Format(
        read_aut,
        Opening(re.compile(r"des\b"), "'des (INITIAL, TRANSITIONS, STATES)'"),
    ),
    ".hoa": _Format(read_hoa, HOA_OPENING),
}
_MODELS = (".dve", ".pnml")
_NETWORKS = ".dot, .aut or .hoa files"
_KNOWN = ".dot, .aut, .hoa, .dve or .pnml (or one of these with .gz)"


def load(paths: StrPath | Iterable[StrPath]) -> System:
    """Read a system from a file, or a network from files that hold its components.

    Parameters
    ----------
    paths : path or paths
        A ``.dve`` or ``.pnml`` file, which is a model; or ``.dot`` (or ``.gv``),
        ``.aut`` and ``.hoa`` files of networks, whose formats may be mixed: every file
        contributes its components in order.  All of them also compressed, with
        ``.gz`` behind the suffix.

    Returns
    -------
    Network or Model
        Named after the files.

    Raises
    ------
    InputError
        A file cannot be opened or does not hold what its suffix promises;
        names file and, where there is one, line.
    UnsupportedError
        The format cannot be read, or says more than a network can hold.
    """
    files = _listed(paths)
    suffixes = [split_suffix(file)[1] for file in files]
    models = [f for f, suffix in zip(files, suffixes, strict=True) if suffix in _MODELS]
    if not models:
        return load_network(files)
    if len(files) > 1:
        raise UnsupportedError(
            f"{models[0]}: a model is a system of its own and has one file, but "
            f"{len(files)} are given"
        )
    return _load_model(files[0], suffixes[0])


def _listed(paths: StrPath | Iterable[StrPath]) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files = [os.fspath(path) for path in paths]
    if not files:
        raise InputError("expected at least one file", file="(no file)")
    return files


def _load_model(file: str, suffix: str) -> Model:
    if suffix == ".pnml":
        from ltlpipe.systems.pnml.reading import read_pnml

        return read_pnml(file)
    from ltlpipe.systems.dve.model import read_dve_model

    return read_dve_model(read_text(file), file)


def load_network(paths: StrPath | Iterable[StrPath]) -> Network:
    """Read a network, as `load` does; refuse models.

    Raises
    ------
    InputError, UnsupportedError
        As `load`, and if a file holds a model.
    """
    files = _listed(paths)
    components = [lts for file in files for lts in _load_components(file)]
    return Network(components, name=" ".join(files))


def _load_components(file: str) -> list[LTS]:
    suffix = split_suffix(file)[1]
    if suffix in _MODELS:
        raise UnsupportedError(
            f"{file}: a model, expected components of a network: {_NETWORKS}"
        )
    if suffix not in _FORMATS:
        message = f"unknown suffix {suffix!r}, expected {_KNOWN}"
        raise InputError(message, file=file)
    kind = _FORMATS[suffix]
    return kind.read(read_text(file, opening=kind.opening), file)


def split_suffix(path: StrPath) -> tuple[str, str]:
    """Split ``a/m.AUT.gz`` into the name's stem ``m`` and its suffix ``.aut``."""
    name = PurePath(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    suffix = PurePath(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower()
