"""Compile the kernels of common searches into the package, for most processors.

python scripts/kernels.py [--first]

Asks the questions below, with nothing compiled before, and puts the machine code that
they needed where `ltlpipe.runtime.kernels.shipped` looks for it, in place of what was
there.  That takes three minutes of CPU time, or a half with ``--first``: only what a
newcomer asks for first.  The same sources give the same files.
"""

from __future__ import annotations

import json
import os
import pickle
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ltlpipe.runtime.kernels import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_KERNELS, MOST_BYTES = 60, 15 << 20
EXAMPLES = Path(__file__).parents[1] / "examples"

_NETWORK = "check problems/mutex/system.dot -f 'G(ask_l -> F enter_l)' --reduce"
_MANY = "check $FOLDER/many.hoa --empty"
_PROMELA = "check promela/philosophers.pml"
_NET = "check pnml/token-ring-5.pnml --empty"

FIRST = (
    [f"{_NETWORK} none --emptiness {name}" for name in ("se05", "couvreur99")],
    [f"{question} --emptiness dfs-weak" for question in (_PROMELA, _NET)],
)
"""Two lists, for two cores, of what is asked for first."""

_NAMED = "dfs-weak cvwy92 hpy96 tarjan72 gv04 tela rabin ufscc cndfs"
_AMPLE = "couvreur99 se05 dfs-weak"
ALL = (
    [
        *FIRST[0],
        *(f"{_NETWORK} none --emptiness {name}" for name in _NAMED.split()),
        *(f"{_NETWORK} ample --emptiness {name}" for name in _AMPLE.split()),
        f"{_NETWORK} components",
    ],
    [
        *FIRST[1],
        "generate philosophers 9 --out $FOLDER/many.hoa",
        f"{_MANY} --reduce none --certificate $FOLDER/certificate",
        "verify $FOLDER/certificate",
        f"{_MANY} --reduce none",
        f"{_MANY} --reduce decoupled",
        f"{_MANY} --reduce symmetry",
        f"{_MANY} --bitstate 1",
        f"{_MANY} --compact 64",
        "deadlocks $FOLDER/many.hoa",
        f"{_NET} --reduce symmetry",
        f"{_NET} --reduce walks",
        "check rers/problem1.dot -f 'G F iA' --unknown never",
        "check rers_sequential/Problem1.c -f 'G F iA' --unknown never",
    ],
)


def asked(questions: list[str], folder: Path) -> Path:
    """Ask, and return the folder of machine code."""
    settings = {
        "NUMBA_CPU_NAME": shipped.PROCESSOR,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder),
    }
    user = {key: text for key, text in os.environ.items() if "NUMBA" not in key}
    for question in questions:
        given = [part.replace("$FOLDER", str(folder)) for part in shlex.split(question)]
        done = subprocess.run(
            [sys.executable, "-m", "ltlpipe", *given],
            cwd=EXAMPLES,
            env=user | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(f"{question}\n{done.stdout}{done.stderr}")
    return folder / "cache" / "kernels"


def compiled(cache: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what Python calls, not what is only part of it: keys and machine code."""
    for index in sorted(cache.glob("*/*.nbi")):
        with index.open("rb") as stream:
            pickle.load(stream)  # Numba's version
            _, names = pickle.load(stream)
        for key, name in sorted(names.items()):
            if "no_cpython_wrapper" not in key and not name.startswith("ltlpipe_dve"):
                yield key, (index.parent / name).read_bytes()


def build(target: Path, questions: Sequence[list[str]]) -> str:
    """Replace the files in a folder; return what they are."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as lanes:
        folders = [Path(name) / str(k) for k in range(len(questions))]
        for folder in folders:
            folder.mkdir(mode=0o700)
        kernels: dict[str, bytes] = {}
        for cache in lanes.map(asked, questions, folders):
            kernels |= dict(compiled(cache))
    n_bytes = sum(map(len, kernels.values()))
    about = f"{len(kernels)} kernels, {n_bytes / (1 << 20):.1f} MiB"
    if len(kernels) > MOST_KERNELS or n_bytes > MOST_BYTES:
        raise RuntimeError(f"{about}: more than {MOST_KERNELS} or {MOST_BYTES} bytes")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    target.chmod(0o755)
    for key, body in kernels.items():
        shipped.write(target, key, body)
    made_by = {"python": shipped.PYTHON, "needs": shipped.NEEDS}
    (target / "about.json").write_text(json.dumps(made_by) + "\n")
    return about


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        sys.exit(f"kernels.py: {shipped.PROCESSOR} only, not {platform.machine()}")
    first = sys.argv[1:] == ["--first"]
    print(build(shipped.FOLDER, FIRST if first else ALL))
