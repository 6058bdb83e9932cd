"""Writing networks to files, in the format that the suffix names.

`ltlpipe.systems.formats` declares the formats.  Each suffix may be followed by
``.gz``.  What a format does not hold is refused, with two exceptions.  An unfolder
asks for no acceptance, so a ``.ll_net`` file goes without.  Internal labels become
ordinary labels that one component has for itself, under a fresh name (``i_2`` in the
second component) where the old one occurs elsewhere too.

A label of the alphabet that no transition has would be lost, and with it the
synchronisation that it blocks: files that can be read again have self-loops
with such labels, of one more state, which is not reachable.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.arguments import PATH, TEXT, expect
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import split_suffix, write_text
from ltlpipe.systems.formats import WRITABLE, by_name, by_suffix
from ltlpipe.systems.networks.lts import require_network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.networks.lts import LTS, Network

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def save(
    network: Network,
    path: StrPath,
    *,
    format: str | None = None,
    internal: str | None = None,
) -> list[Path]:
    """Write a network; `load` on the paths returned gives it back.

    Models for other tools (``.pml``, ``.ll_net``) cannot be loaded.

    Parameters
    ----------
    network : Network
        It is not changed.
    path : path
        Its suffix is one that `ltlpipe.systems.formats` has a writer for, maybe with
        ``.gz`` behind it.  Existing files are overwritten.  ``-`` is standard output.
    format : str, optional
        ``dot``, ``aut`` or ``hoa``, or one of other tools: what to write, whatever the
        suffix says.
    internal : str, optional
        What internal labels are called in an ``.aut`` file: ``i`` for CADP, ``tau``
        for mCRL2.  What that tool could not read is refused then.

    Returns
    -------
    list of Path
        The files written (none if `path` is ``-``): `path`, or ``m_1.aut``,
        ``m_2.aut``, ... where `path` is ``m.aut`` and the network has several
        components.

    Raises
    ------
    UnsupportedError
        It is no network, the format cannot hold it, or the suffix is none of the
        above; nothing has been written.
    InputError
        A file cannot be written; names it.
    """
    require_network(network, "writing a file", "network")
    expect(PATH, path=path)
    expect(TEXT.or_none, format=format, internal=internal)
    target = Path(path)
    stem, suffix = split_suffix(target)
    if format is not None:
        suffix = by_name(format, written=True).suffixes[0]
    texts = _texts(network, suffix, target, internal=internal)
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
    for file, text in zip(paths, texts, strict=True):
        write_text(file, text)
    return paths


def _texts(
    network: Network, suffix: str, target: Path, *, internal: str | None = None
) -> list[str]:
    """Return what the files are to hold."""
    for component in network.components:
        _refuse_unwritable(component, suffix)
    form = by_suffix(suffix)
    if form is None or form.writer is None:
        raise UnsupportedError(
            f"{target}: cannot write {suffix or 'a file without suffix'},"
            f" expected {WRITABLE}, or a format by --to"
        )
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
    return _texts(network, ".hoa", Path("network.hoa"))[0]


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
