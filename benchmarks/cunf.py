"""Cunf on ltlpipe's networks: a complete prefix of the unfolding, beside our searches.

The source of our decoupled search compares with Cunf so: an instance counts as solved
when the prefix is complete, "i.e., we do not actually check the liveness property".
`unfold` writes a network as a Petri net, runs ``cunf`` if it is on the ``PATH``, and
returns what it printed as numbers.  It builds from its author's public repository
(``cesaro/cunf``); nothing here needs it, and where it is missing there are no rows.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.systems.networks.exports import to_ll_net

if TYPE_CHECKING:
    from pathlib import Path

    from ltlpipe import Network

COMPLETE = "complete prefix"
"""In place of a verdict: no property has been checked."""

_MIB = 1 << 20


class CunfError(Exception):
    """Cunf refused the net, or crashed; carries what it printed."""


def available() -> bool:
    """Return whether Cunf is installed."""
    return shutil.which("cunf") is not None


def unfold(
    network: Network, *, workdir: Path, memory_mib: int, timeout: float
) -> dict[str, Any]:
    """Have Cunf construct a complete prefix, with its default cut-offs.

    Parameters
    ----------
    network : Network
        Its acceptance is not looked at.
    workdir : Path
        An existing folder for the net.
    memory_mib : int
        Limit of the address space.
    timeout : float
        Wall-clock limit in seconds.

    Returns
    -------
    dict
        `verdict` is `COMPLETE`, or "unknown" with the limit as `reason`; `seconds` of
        wall clock, and the `events` of the prefix.

    Raises
    ------
    CunfError
        It ended without a prefix for another reason than a limit.
    UnsupportedError
        The network cannot be written as a net.
    """
    net = workdir / "model.ll_net"
    net.write_text(to_ll_net(network), encoding="utf-8")
    most = memory_mib * _MIB
    began = time.perf_counter()
    row: dict[str, Any] = {"verdict": "unknown", "reason": "timeout", "events": None}
    try:
        done = subprocess.run(
            ["cunf", net.name],
            cwd=workdir,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (most, most)),
        )
    except subprocess.TimeoutExpired:
        return row | {"seconds": time.perf_counter() - began}
    row["seconds"] = time.perf_counter() - began
    events = re.search(r"^events\s+(\d+)", done.stdout, re.MULTILINE)
    if done.returncode == 0 and events:
        return row | {"verdict": COMPLETE, "reason": None, "events": int(events[1])}
    if re.search("memory", done.stdout, re.IGNORECASE):
        return row | {"reason": "memory"}
    raise CunfError(f"cunf ended with status {done.returncode}: {done.stdout[-500:]}")
