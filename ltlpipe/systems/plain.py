"""Components and lists of texts as plain data, which travel between processes.

Texts travel as one piece of bytes: a list of a million would be decoded in one
step that cannot be interrupted.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job

Plain: TypeAlias = Any
"""Numbers, texts, arrays, lists and dictionaries of them: what can be sent."""

TURN = 10_000
"""Things that are built between two yields, each in some microseconds."""

_TEXT_BYTES = 80  # of a short text and its entry in a list


def plain_texts(texts: Iterable[str]) -> Plain:
    """Return texts as their bytes and the positions of their ends."""
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, count=len(encoded)))
    return {"bytes": b"".join(encoded), "ends": ends}


def texts_of(plain: Plain) -> Job[list[str]]:
    """Return what `plain_texts` was given."""
    data, ends = memoryview(plain["bytes"]), plain["ends"]
    texts: list[str] = []
    begin = 0
    for first in range(0, len(ends), TURN):
        for end in ends[first : first + TURN].tolist():
            texts.append(str(data[begin:end], "utf-8", "surrogatepass"))
            begin = end
        yield Progress("reading", TURN, begin + _TEXT_BYTES * len(texts))
    return texts


def plain_components(components: Iterable[LTS]) -> Plain:
    """Return the components of a network as plain data."""
    return [
        {
            **{column.name: getattr(lts, column.name) for column in fields(lts)},
            "labels": plain_texts(lts.labels),
            "internal": sorted(lts.internal),
            "state_names": lts.state_names and plain_texts(lts.state_names),
        }
        for lts in components
    ]


def components_of(plain: Plain) -> Job[list[LTS]]:
    """Return what `plain_components` was given."""
    components = []
    for part in plain:
        labels = yield from texts_of(part["labels"])
        names = part["state_names"] and (yield from texts_of(part["state_names"]))
        texts = {"labels": tuple(labels), "state_names": names and tuple(names)}
        internal = frozenset(part["internal"])
        components.append(LTS(**part | texts | {"internal": internal}))
        yield Progress("reading", 1 + len(part["src"]) / 100)
    return components
