"""Spin on ltlpipe's networks: the other side of a side-by-side run.

`run_spin` writes a network as Promela, has Spin make a verifier, compiles and
runs it, and returns what it printed as numbers.  From a shell, the scaling
families with and without partial-order reduction::

    python -m benchmarks.spin --philosophers 8 9 --ring 8 9

Spin at its best: measured with Spin 6.5.2 and gcc on nine philosophers
(1,008,099 states), ``-O3`` for ``-O2`` and leaving out ``-DNOFAIR`` (no code for
weak fairness) change nothing, ``-DCOLLAPSE`` is a third slower and saves nothing
on networks as small as these, hash compaction (``-DHC4``) saves a fifth of the
memory but is no longer exact.  A hash table of 2^20 to 2^22 slots gave 360,000
states per second, the default 2^24 330,000, 2^26 310,000: fastest are 1 to 4
slots a state, so `hash_bits` should name the least power of two that is twice
the number of states expected.

The verifier allocates a stack of as many frames as its depth limit (``-m``).
`memory_mib` of a result counts those that the search needed, as if the limit
had been just enough; Spin's own total is `total_memory_mib`.  The rates in the
table use the verifier's own clock, `pan_seconds`, which starts when the stack
and the hash table are there; `seconds` is its whole life.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ltlpipe.families.networks import philosophers, ring
from ltlpipe.runtime.worker_process import end_with_parent
from ltlpipe.systems.networks.exports import to_promela

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.systems.networks.lts import Network

NUMBER = r"([\d.]+(?:e[+-]?\d+)?)"

# Figures of the verifier's report; it rounds counts to eight digits.
COUNTS = {
    "states": rf"{NUMBER} states, stored",
    "visited": rf"states, stored \({NUMBER} visited\)",
    "transitions": rf"{NUMBER} transitions",
    "max_depth": rf"depth reached {NUMBER}",
    "state_vector_bytes": rf"State-vector {NUMBER} byte",
}
SIZES = {
    "states_memory_mib": rf"{NUMBER}\s+(?:actual|equivalent) memory usage for states",
    "hash_memory_mib": rf"{NUMBER}\s+memory used for hash table",
    "stack_memory_mib": rf"{NUMBER}\s+memory used for DFS stack",
    "total_memory_mib": rf"{NUMBER}\s+total actual memory usage",
    "pan_seconds": rf"elapsed time {NUMBER} seconds",
}


RATES = ["states_per_second", "visits_per_second", "bytes_per_state"]


class SpinError(Exception):
    """Spin or the compiler refused the model; carries what they printed."""


def available() -> bool:
    """Return whether both Spin and gcc are installed."""
    return all(shutil.which(tool) for tool in ["spin", "gcc"])


def run_spin(
    network: Network | Callable[[Sequence[str]], str],
    *,
    reduce: bool,
    workdir: Path,
    depth: int = 10_000_000,
    memory_mib: int = 4096,
    timeout: float = 600.0,
    compile_timeout: float | None = None,
    hash_bits: int = 24,
    optimisation: str = "-O2",
    formula: str | None = None,
    storage: str | None = None,
) -> dict[str, object]:
    """Let Spin look for an accepting run of `network`, or one that violates a formula.

    Parameters
    ----------
    network : Network or function
        Labels shared by two components at most; without acceptance if there is a
        formula.  Or, with a formula, what writes a process as Promela which tells
        in ``last`` the number, from 1, of the action, among those given, that it
        has taken, 0 for others.
    reduce : bool
        Use partial-order reduction.  With a formula it saves nothing: each step
        writes the variable of which the claim speaks.
    workdir : Path
        An existing folder for the model and the verifier.
    depth : int
        Limit of the search stack, two frames per composed transition.
    memory_mib : int
        Limit of the verifier's memory.
    timeout : float
        Wall-clock limit of the verifier in seconds, compilation apart.
    compile_timeout : float, optional
        Wall-clock limit of each of Spin and gcc, in seconds.
    hash_bits : int
        The hash table has 2^hash_bits slots.
    optimisation : str
        For gcc.
    formula : str, optional
        About actions, of all infinite runs.  Its negation becomes the claim; there
        is a step before the first action, in which the claim must not yet look.
    storage : str, optional
        "COLLAPSE", "HC4" or "BITSTATE": how the verifier keeps states.  With the last
        2^hash_bits are the bits of its array.

    Returns
    -------
    dict
        `verdict` is "holds" (no accepting run), "violated" or "unknown", with
        the limit that was hit as `reason`, else None; for a network without
        acceptance "holds" says only that all states were seen.  `seconds` and
        `compile_seconds` are wall-clock times; then the keys of `COUNTS` and
        `SIZES`, those that Spin printed, and `memory_mib` (module docstring).

    Raises
    ------
    SpinError
        Spin or gcc refused the model, or took too long.
    UnsupportedError
        The network cannot be written as Promela.
    """
    start = time.perf_counter()
    is_network = not callable(network)
    write = partial(to_promela, network) if is_network else network
    (workdir / "model.pml").write_text(_model(write, formula))
    has_claim = formula is not None or network.has_acceptance
    n_components = len(network.components) if is_network else 1
    flags = [] if storage is None else [f"-D{storage}"]
    flags += [] if reduce else ["-DNOREDUCE"]
    _compile(
        workdir,
        flags,
        memory_mib,
        optimisation,
        has_claim,
        n_components,
        compile_timeout,
    )
    compiled = time.perf_counter()
    arguments = ["-E", "-n", f"-m{depth}", f"-w{hash_bits}"]
    if has_claim:
        arguments.append("-a")
    report, timed_out, _ = _run([str(workdir / "pan"), *arguments], workdir, timeout)
    result: dict[str, object] = {
        "seconds": time.perf_counter() - compiled,
        "compile_seconds": compiled - start,
    }
    result["verdict"], result["reason"] = _verdict(report, timed_out)
    return result | _figures(report, depth)


def _model(write: Callable[..., str], formula: str | None) -> str:
    """Write the system and the claim that a formula is violated."""
    if formula is None:
        return write()
    import spot

    names = spot.relabeling_map()
    negated = spot.relabel(spot.formula(f"X !({formula})"), spot.Pnn, names)
    short = {str(new): old.ap_name() for new, old in names.items()}
    defined = [f"#define {name} (last == {k})" for k, name in enumerate(short, start=1)]
    claim = spot.degeneralize(spot.translate(negated)).to_str("spin")
    # A claim at its end would be violated by finite runs, too.
    claim = claim.replace("  skip\n", "  if\n  :: (true) -> goto accept_all\n  fi;\n")
    return "\n".join([*defined, write([*short.values()]), claim])


def _compile(
    workdir: Path,
    asked: Sequence[str],
    memory_mib: int,
    optimisation: str,
    has_claim: bool,
    n_components: int,
    timeout: float | None,
) -> None:
    """Make the verifier ``pan`` of the model in `workdir`."""
    flags = ["-DNOSTUTTER", f"-DMEMLIM={memory_mib}"]
    flags += ["-DNOFAIR"] if has_claim else ["-DSAFETY"]
    flags += asked
    vector = 256 + 16 * n_components  # twice what is needed
    flags += [f"-DVECTORSZ={vector}"] if vector > 1024 else []
    for command in [
        ["spin", "-a", "model.pml"],
        ["gcc", optimisation, *flags, "-o", "pan", "pan.c"],
    ]:
        told, timed_out, failed = _run(command, workdir, timeout)
        if timed_out:
            raise SpinError(f"{command[0]} takes more than {timeout:g} s")
        if failed:
            raise SpinError(told)


def _run(
    command: list[str], workdir: Path, timeout: float | None
) -> tuple[str, bool, bool]:
    """Return what `command` printed, whether it was stopped, and whether it failed."""
    with subprocess.Popen(
        command,
        cwd=workdir,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=end_with_parent,  # which may be a worker that is killed
        start_new_session=True,
    ) as process:
        try:
            told, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # gcc's own children, too
            return "", True, True
    return told, False, process.returncode != 0


def _verdict(report: str, timed_out: bool) -> tuple[str, str | None]:
    if "acceptance cycle (at depth" in report:
        return "violated", None
    for reason, sign in [
        ("memory", r"out of memory|reached -DMEMLIM bound"),
        ("depth", r"max search depth too small"),
    ]:
        if re.search(sign, report):
            return "unknown", reason
    if timed_out:
        return "unknown", "timeout"
    if "errors: 0" not in report:
        raise SpinError(report)
    return "holds", None


def _figures(report: str, depth: int) -> dict[str, object]:
    """Return the figures that `report` has, and the memory that was needed."""
    found: dict[str, float] = {}
    for key, pattern in (COUNTS | SIZES).items():
        match = re.search(pattern, report)
        if match:
            found[key] = float(match.group(1))
    figures: dict[str, object] = {
        key: int(value) if key in COUNTS else value for key, value in found.items()
    }
    if "total_memory_mib" in found:
        unused = 1 - min(1.0, found["max_depth"] / depth)
        figures["memory_mib"] = (
            found["total_memory_mib"] - unused * found["stack_memory_mib"]
        )
    return figures


def main() -> None:
    """Run the scaling families and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--philosophers", type=int, nargs="*", default=[8, 9])
    parser.add_argument("--ring", type=int, nargs="*", default=[8, 9])
    parser.add_argument("--depth", type=int, help="frames (3 per expected state)")
    parser.add_argument("--memory", type=int, default=4096, help="MiB")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds")
    options = parser.parse_args()
    # Expected states fix the hash table: 4.65 and 5 per step of the families.
    networks = [(philosophers(n), 4.65**n) for n in options.philosophers]
    networks += [(ring(n), 5.0**n) for n in options.ring]
    rows = []
    for network, expected in networks:
        for reduce in [False, True]:
            with tempfile.TemporaryDirectory() as folder:
                result = run_spin(
                    network,
                    reduce=reduce,
                    workdir=Path(folder),
                    depth=options.depth or int(3 * expected),
                    memory_mib=options.memory,
                    timeout=options.timeout,
                    hash_bits=int(2 * expected).bit_length(),
                )
            rows.append({"system": network.name, "reduce": reduce} | result)
    print(_table(rows).to_string(index=False))


def _table(rows: list[dict[str, object]]) -> pd.DataFrame:
    """Return the rows with states per second and bytes per state."""
    names = "system reduce verdict reason states visited transitions max_depth"
    names += " pan_seconds seconds memory_mib"
    table = pd.DataFrame(rows).reindex(columns=names.split())
    visited = table["visited"].astype(float).fillna(table["states"])  # both searches
    table["states_per_second"] = table["states"] / table["pan_seconds"]
    table["visits_per_second"] = visited / table["pan_seconds"]
    table["bytes_per_state"] = table["memory_mib"] * 2**20 / table["states"]
    return table.round({"seconds": 2, "memory_mib": 1} | dict.fromkeys(RATES, 0))


if __name__ == "__main__":
    main()
