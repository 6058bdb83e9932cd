"""Writing systems to files, in the format that the suffix names.

`ltlpipe.systems.formats` declares the formats.  Each suffix may be followed by
``.gz``.  What a format does not hold is refused, with two exceptions.  An unfolder
asks for no acceptance, so a ``.ll_net`` file goes without.  Internal labels become
ordinary labels that one component has for itself, under a fresh name (``i_2`` in the
second component) where the old one occurs elsewhere too.

A label of the alphabet that no transition has would be lost, and with it the
synchronisation that it blocks: files that can be read again have self-loops
with such labels, of one more state, which is not reachable.

Graphs with propositions are written as HOA, nets as PNML.  A model can be written as a
Kripke structure, in HOA, that tells some propositions of its states.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata.graphs import is_graph
from ltlpipe.runtime.arguments import PATH, TEXT, WHOLE, expect, several
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import refuse_overwriting, split_suffix, write_text
from ltlpipe.systems.formats import WRITABLE, by_name, by_suffix
from ltlpipe.systems.graph import SpotGraph, graph_system
from ltlpipe.systems.kinds import is_program
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import (
    Network,
    refuse_if_lacking,
    require_network,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.formats import Format
    from ltlpipe.systems.models import System
    from ltlpipe.systems.networks.lts import LTS

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def save(
    network: System | Any,
    path: StrPath,
    *,
    format: str | None = None,
    internal: str | None = None,
    propositions: Sequence[str] = (),
    max_states: int = 100_000,
    unlike: Iterable[StrPath] = (),
) -> list[Path]:
    """Write a system; `load` on the paths returned gives it back.

    Models for other tools (``.pml``, ``.ll_net``) cannot be loaded, and a network in
    PNML is loaded as a net, whose transitions are called like the actions.

    Parameters
    ----------
    network : Network, Model, SpotGraph or a graph of Spot
        It is not changed.  A net is written as PNML, a graph with propositions as HOA
        (which `load` gives back with ``semantics="state"``).
    path : path
        Its suffix is one that `ltlpipe.systems.formats` has a writer for, maybe with
        ``.gz`` behind it.  Existing files are overwritten.  ``-`` is standard output.
    format : str, optional
        ``dot``, ``aut`` or ``hoa``, or one of other tools: what to write, whatever the
        suffix says.
    internal : str, optional
        What internal labels are called in an ``.aut`` file: ``i`` for CADP, ``tau``
        for mCRL2.  What that tool could not read is refused then.
    propositions : sequence of str
        Comparisons such as ``x==1``: the reachable states of a model are written to a
        ``.hoa`` file as a Kripke structure with these propositions.
    max_states : int
        The most states that it may have.
    unlike : iterable of path
        Files that are not to be overwritten.

    Returns
    -------
    list of Path
        The files written (none if `path` is ``-``): `path`, or ``m_1.aut``,
        ``m_2.aut``, ... where `path` is ``m.aut`` and the network has several
        components.

    Raises
    ------
    UnsupportedError
        The format cannot hold it, the suffix is none of the above, or a file is one of
        `unlike`; nothing has been written.
    InputError
        A file cannot be written; names it.
    """
    if is_graph(network):
        network = graph_system(network)
    if not isinstance(network, (Model, SpotGraph)):
        require_network(network, "writing a file", "network")
    expect(PATH, path=path)
    propositions = several(TEXT, propositions, "propositions")
    expect(TEXT.or_none, format=format, internal=internal)
    unlike = several(PATH, unlike, "unlike")
    expect(WHOLE, max_states=max_states)
    target = Path(path)
    stem, suffix = split_suffix(target)
    if format is not None:
        suffix = by_name(format, written=True).suffixes[0]
    form = _writable(suffix, target)
    if isinstance(network, Network):
        refuse_if_lacking(network, "a file")
        if propositions:
            raise UnsupportedError(
                f"--propositions={propositions[0]} is about states of a model, and "
                f"{network.name or 'the system'} is a network"
            )
        texts = _texts(network, form, internal=internal)
    else:
        texts = [_text_of_states(network, form, propositions, internal, max_states)]
    if str(path) == "-":
        if len(texts) > 1:
            raise UnsupportedError(
                f"a {suffix} file holds one component, and the network has "
                f"{len(texts)}; write to files, or another format"
            )
        _print(texts[0])
        return []
    paths = [target]
    if len(texts) > 1:
        end = target.name[len(stem) :]
        paths = [target.with_name(f"{stem}_{k}{end}") for k in range(1, len(texts) + 1)]
    for file in paths:
        refuse_overwriting({"OUT": file}, unlike)
    for file, text in zip(paths, texts, strict=True):
        write_text(file, text)
    return paths


def _writable(suffix: str, target: Path) -> Format:
    """Return the format with a suffix, if it can be written."""
    form = by_suffix(suffix)
    if form is None or form.writer is None:
        raise UnsupportedError(
            f"{target}: cannot write {suffix or 'a file without suffix'},"
            f" expected {WRITABLE}, or a format by --to"
        )
    return form


def _text_of_states(
    system: Model | SpotGraph,
    form: Format,
    propositions: Sequence[str],
    internal: str | None,
    max_states: int,
) -> str:
    """Return the text of a file that holds a system with propositions about states."""
    assert form.writer is not None
    writer, suffix, name = form.writer(), form.suffixes[0], system.name
    if internal is not None:
        raise UnsupportedError(f"--internal={internal!r}: {name} has no actions")
    if isinstance(system, Model) and propositions:
        system = graph_system(system.to_spot(propositions, max_states=max_states))
    if isinstance(system, SpotGraph):
        if writer.graph is not None:
            return writer.graph(system)
        lost = "propositions that hold together"
        advice = "write .hoa"
    else:
        if writer.model is not None:
            return writer.model(system)
        lost = "what formulas can say of its states"
        keeps = "" if is_program(system) else ".pnml, or "
        advice = f"write {keeps}.hoa, with --propositions='x==1' for what is to be kept"
        if writer.graph is not None:
            lost = "all that --propositions does not name"
            advice = "name some, such as --propositions='x==1'"
    raise UnsupportedError(f"{name}: a {suffix} file would lose {lost}; {advice}")


def _texts(network: Network, form: Format, *, internal: str | None = None) -> list[str]:
    """Return what the files are to hold."""
    suffix = form.suffixes[0]
    for component in network.components:
        _refuse_unwritable(component, suffix)
    assert form.writer is not None
    writer = form.writer()
    if internal is not None and writer.component is None:
        raise UnsupportedError(
            f"--internal={internal!r} is for .aut files, which hold internal labels, "
            f"not for a {suffix} file"
        )
    if writer.network is not None:
        return [writer.network(network)]
    components = [
        _with_plain_names(_with_all_labels_used(c)) for c in network.components
    ]
    if writer.component is not None:
        return [writer.component(c, internal) for c in components]
    assert writer.components is not None
    return [writer.components(separate_internal(components))]


def hoa_text(network: Network) -> str:
    """Return what `save` writes to a ``.hoa`` file."""
    return _texts(network, by_name("hoa"))[0]


def separate_internal(components: Sequence[LTS]) -> list[LTS]:
    """Make internal labels ordinary ones that no other component has."""
    users = Counter(label for lts in components for label in lts.labels)
    names = set(users)
    separated = []
    for number, lts in enumerate(components, start=1):
        labels = list(lts.labels)
        for k, label in enumerate(labels):
            if label in lts.internal and users[label] > 1:
                labels[k] = next(
                    n for n in _candidates(label, number) if n not in names
                )
                names.add(labels[k])
        separated.append(replace(lts, labels=tuple(labels), internal=frozenset()))
    return separated


def _candidates(label: str, number: int) -> Iterator[str]:
    yield f"{label}_{number}"
    yield from (f"{label}_{number}_{k}" for k in count(2))


def _with_all_labels_used(lts: LTS) -> LTS:
    """Give labels without transitions self-loops at one more state."""
    unused = np.setdiff1d(np.arange(len(lts.labels), dtype=np.int32), lts.label)
    if not len(unused):
        return lts
    loops = np.full(len(unused), lts.n_states, dtype=np.int32)
    flags = lts.accepting
    return replace(
        lts,
        n_states=lts.n_states + 1,
        src=np.concatenate([lts.src, loops]),
        label=np.concatenate([lts.label, unused]),
        dst=np.concatenate([lts.dst, loops]),
        accepting=None if flags is None else np.append(flags, False),
        state_names=lts.state_names and (*lts.state_names, "unreachable"),
    )


def _with_plain_names(lts: LTS) -> LTS:
    """Replace in names what no file can hold, before the writer tells them apart."""
    names = lts.state_names
    return replace(
        lts,
        name=_NO_TEXT.sub("?", lts.name),
        state_names=names and tuple(_NO_TEXT.sub("?", name) for name in names),
    )


def _refuse_unwritable(lts: LTS, suffix: str) -> None:
    for label in lts.labels:
        if "\0" in label or label.encode(errors="ignore").decode() != label:
            raise UnsupportedError(
                f"the label {label!r} cannot be written to a {suffix} file,"
                " expected Unicode text without NUL"
            )


def _print(text: str) -> None:
    """Write to standard output, in UTF-8 whatever its encoding is."""
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
    else:
        binary.write(text.encode())
        binary.flush()
