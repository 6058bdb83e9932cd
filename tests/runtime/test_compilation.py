"""Kernels are compiled by workers, once, and loaded here."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ltlpipe.runtime import workers
from ltlpipe.runtime.jobs import Grant
from ltlpipe.runtime.kernels.compilation import worked
from ltlpipe.runtime.kernels.jit import INTERPRETED, Interim
from tests.processes import SOON

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

ROOT = Path(__file__).parents[2]

KERNEL = """
import json, sys
sys.path.insert(0, {root!r})
import numpy as np
from numba.core import event
from ltlpipe.runtime.jobs import Clock, run
from ltlpipe.runtime.kernels import compilation, jit
from ltlpipe.runtime.folders import cache_folder
from ltlpipe.runtime.loading import spent
from ltlpipe.symmetry.sets.inclusion_checks import Index, rehash

def few(kind):
    return np.zeros(4, kind)

index = Index(few(np.int64), few(np.int32), few(np.int32))
arguments = (index, few(np.int32), few(np.int32), 2, 4)
clock = Clock()
phases = set()
with event.install_recorder("numba:compile") as recorder:
{work}
print(json.dumps([
    len(recorder.buffer), spent()[1], sorted(phases),
    clock.seconds, clock.compile_seconds,
]))
"""

ANNOUNCED = """
    run(
        compilation.ready(rehash, *arguments),
        clock=clock,
        observer=lambda progress: phases.add(progress.phase),
    )
    rehash(*arguments)
"""

UNANNOUNCED = """
    rehash(*arguments)
"""

AS_WORKERS_DO = """
    kinds = [compilation.encoded_type(rehash.typeof_pyval(a)) for a in arguments]
    place = "ltlpipe.symmetry.sets.inclusion_checks:rehash"
    compilation.compile_there(place, None, kinds, str(cache_folder()))
"""

MODEL = """
    from ltlpipe.systems.reading import load_program
    model = load_program({path!r})
    expand = model.pack([]).expand
    run(compilation.ready_expand_pointer(expand), clock=clock)
    compiled = jit.callback(expand, compilation_signature)
    target = compiled._targetdescr.target_context
    stored = compilation._is_stored(compiled._cache, compiled._sig, target)
    assert stored
"""


def begun(work, folder, root=ROOT, **options):
    text = KERNEL.format(root=str(root), work=work)
    return subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        **options,
    )


def told(program):
    output, _ = program.communicate(timeout=20 * SOON)
    assert program.returncode == 0
    return json.loads(output)


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_worker_compiles_and_this_process_loads(tmp_path):
    """The question's clock stands still meanwhile; the second time all is there."""
    compiled, unannounced, phases, seconds, compile_seconds = told(
        begun(ANNOUNCED, tmp_path)
    )

    assert compiled == unannounced == 0
    assert "compiling rehash (once per version)" in phases
    assert compile_seconds > max(0.2, seconds)

    compiled, _, phases, *_ = told(begun(ANNOUNCED, tmp_path))
    assert (compiled, phases) == (0, ["loading kernels"])


def test_what_nobody_has_announced_is_counted(tmp_path):
    compiled, unannounced, *_ = told(begun(UNANNOUNCED, tmp_path))

    assert compiled > 0
    assert unannounced > 0.1


@pytest.mark.thorough("starts, watches or kills other processes")
def test_two_processes_at_once_compile_once(tmp_path):
    programs = [begun(AS_WORKERS_DO, tmp_path) for _ in range(2)]
    compiled = sorted(told(program)[0] for program in programs)

    assert compiled[0] == 0 < compiled[1]


@pytest.mark.thorough("starts, watches or kills other processes")
def test_another_copy_of_the_sources_finds_what_one_has_compiled(tmp_path):
    """Elsewhere and newer, with other comments and lines; other code compiles anew."""
    hidden = shutil.ignore_patterns("__pycache__")
    cache, copy = tmp_path / "cache", tmp_path / "copy"
    shutil.copytree(ROOT / "ltlpipe", copy / "ltlpipe", ignore=hidden)
    for file in (copy / "ltlpipe").rglob("*.py"):
        file.touch()
    assert told(begun(AS_WORKERS_DO, cache))[0] > 0
    assert told(begun(AS_WORKERS_DO, cache, copy))[0] == 0

    changed = copy / "ltlpipe" / "symmetry" / "sets" / "inclusion_checks.py"
    text = changed.read_text()
    changed.write_text("# a comment\n" + text + "\n\ndef unused():\n    pass\n")
    assert told(begun(AS_WORKERS_DO, cache, copy))[0] == 0
    body = text.partition("def rehash(")[2].partition("for ")[2]
    changed.write_text(text.replace(body, body.replace("0", "1", 1)))
    assert told(begun(AS_WORKERS_DO, cache, copy))[0] > 0
    assert told(begun(AS_WORKERS_DO, cache))[0] == 0


def test_a_closed_job_leaves_the_compiler_at_work():
    """The next question finds what it has compiled; the end of the process ends it."""
    from ltlpipe.runtime.kernels.compilation import ready
    from ltlpipe.symmetry.sets.inclusion_checks import Index, rehash

    numbers = np.zeros(4, np.uint16)  # of a type that nobody uses
    index = Index(np.zeros(4, np.int64), np.zeros(4, np.int32), np.zeros(4, np.int32))
    alive = workers._of_this_process().alive
    workers.close_idle()
    before = set(alive)
    job = ready(rehash, index, numbers, numbers, 2, 4)
    for _ in range(5):
        progress = job.send(Grant() if alive - before else None)
        time.sleep(0.02)
    assert progress.compiling
    assert (progress.work, progress.memory_bytes) == (0, 0)
    (worker,) = alive - before
    job.close()

    assert workers._of_this_process().left == [worker]  # nobody has waited for it
    assert worker in alive
    workers.close_idle()
    assert worker._process.returncode is not None
    assert worker not in alive


def test_types_travel():
    """Those of the kernels of a search, functions and named tuples among them."""
    from ltlpipe import LTS, Network, check
    from ltlpipe.runtime.kernels.compilation import decoded_type, encoded_type
    from ltlpipe.search.nested.ndfs import ndfs_step

    ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
    check(ring, "G(a -> F b)", emptiness="se05")

    assert ndfs_step.overloads
    for kinds in ndfs_step.overloads:
        for kind in kinds:
            text = json.dumps(encoded_type(kind))
            assert decoded_type(json.loads(text)) == kind


def test_what_cannot_be_told():
    from numba import types

    from ltlpipe.runtime.kernels.compilation import encoded_type

    with pytest.raises(TypeError):
        encoded_type(types.unicode_type)


def test_what_a_worker_cannot_compile_is_compiled_here():
    from ltlpipe.runtime.jobs import Clock, run
    from ltlpipe.runtime.kernels.compilation import ready
    from ltlpipe.runtime.kernels.jit import njit

    @njit(cache=False)
    def double(number):
        return 2 * number

    clock = Clock()
    run(ready(double, 3), clock=clock)

    assert double(3) == 6
    assert len(double.overloads) == 1
    assert clock.compile_seconds + clock.load_seconds > clock.seconds


def test_generated_functions(tmp_path):
    """A model's successor function is compiled by a worker from the file written."""
    path = tmp_path / "model.dve"
    path.write_text(
        "byte x;\nprocess P { state a; init a; trans a -> a "
        "{ guard x < 3; effect x = x + 1; }; }\nsystem async;\n"
    )
    work = MODEL.replace("{path!r}", repr(str(path))).replace(
        "compilation_signature",
        "__import__('ltlpipe.runtime.kernels.jit', fromlist=['jit']).EXPAND_SIGNATURE",
    )
    *_, seconds, compile_seconds = told(begun(work, tmp_path))

    assert compile_seconds > max(0.2, seconds)


def test_several_threads_call_an_interim_function():
    """One goes on with the job that compiles, the others do not wait for it."""
    begun, may_end = threading.Event(), threading.Event()

    def job():
        begun.set()
        may_end.wait()
        yield

    pointer = Interim(SimpleNamespace(compiled=None, signature=list), len, 1.0)
    pointer.job = job()
    first = threading.Thread(target=worked, args=(pointer, 0.5))
    first.start()
    begun.wait()
    worked(pointer, 0.5)
    assert pointer.seconds == 1.0
    may_end.set()
    first.join()
