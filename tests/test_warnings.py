"""Warnings name the line that calls ltlpipe, whichever public function it calls."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import ltlpipe
from ltlpipe import LtlpipeWarning
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.tasks import Task
from ltlpipe.runtime.errors import collecting, silenced, warn

RING = ltlpipe.Network([ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
HOW = {"emptiness": "se05", "unknown": "never"}
TASKS = [(RING, "G zz")]
WARNED = Task(RING, "G zz", options={"unknown": "never"})
MODEL = """byte x = 300;
process P { state s; init s; trans s -> s { effect x = 1; }; }
system async;
"""


@pytest.fixture
def model(tmp_path):
    """A file that cannot be read without a warning."""
    path = tmp_path / "m.dve"
    path.write_text(MODEL)
    return str(path)


def nested(model):
    """A function of a user's between two calls of ltlpipe: the inner one warns."""
    found = []
    ltlpipe.check(RING, "F a", progress=lambda _: found or found.append(call(model)))


def call(_):
    ltlpipe.check(RING, "G zz", unknown="never")


def in_thread(_):
    thread = threading.Thread(target=call, args=[None])
    thread.start()
    thread.join()


def in_pool(_):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(call, None).result()


# Each on one line.  `_` is the path of a model, for readers.
CALLS = {
    "check": lambda _: ltlpipe.check(RING, "G zz", unknown="never"),
    "check-path": lambda path: ltlpipe.check(path, "G(x == 44)"),
    "livelock": lambda path: ltlpipe.livelock(path, ["P: s -> s"]),
    "deadlocks": lambda path: ltlpipe.deadlocks(path),
    "compare": lambda _: ltlpipe.compare(RING, "G zz", **HOW),
    "compare-sizes": lambda _: ltlpipe.compare(RING, "G zz", sizes=True, **HOW),
    "compare-path": lambda path: ltlpipe.compare(path, "G(x == 44)", **HOW),
    "solve": lambda _: ltlpipe.solve(TASKS, unknown="never"),
    "solve-jobs": lambda _: ltlpipe.solve(TASKS, jobs=2, unknown="never"),
    "solve-store": lambda path: ltlpipe.solve([WARNED], store=path + ".sqlite"),
    "solve_rows": lambda _: list(solve_rows([WARNED])),
    # A formula that no other test asks about: what is known is not computed again.
    "analyze": lambda _: ltlpipe.analyze("G(asked -> X F(b & X X c))", timeout=0),
    "load": lambda path: ltlpipe.load(path),
}
FUNCTIONS = {"nested": nested, "thread": in_thread, "pool": in_pool}


def places(found):
    own = [w for w in found if w.category is LtlpipeWarning]
    return [(w.filename, w.lineno) for w in own]


@pytest.mark.parametrize("name", CALLS)
def test_the_line_of_the_call(name, model):
    with pytest.warns(LtlpipeWarning) as found:
        CALLS[name](model)

    place = (__file__, CALLS[name].__code__.co_firstlineno)
    assert {*places(found)} == {place}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_nearest_line_outside(name, model):
    """Called back by ltlpipe, or in another thread, it is still the caller's."""
    with pytest.warns(LtlpipeWarning) as found:
        FUNCTIONS[name](model)

    assert places(found) == [(__file__, call.__code__.co_firstlineno + 1)]


@pytest.mark.parametrize("name", CALLS)
def test_warnings_as_errors(name, model):
    """They end the call, as in any other library, and are no bug of ltlpipe."""
    with pytest.raises(LtlpipeWarning):
        CALLS[name](model)


@pytest.mark.parametrize("how", ["default", "error"])
def test_a_script(how, tmp_path):
    """What `python -W` shows names the script and the line."""
    script = tmp_path / "script.py"
    lines = ["import ltlpipe", "ring = [(0, 'a', 0)]", ""]
    lines += ["ring = ltlpipe.Network([ltlpipe.LTS.from_transitions(ring)])"]
    lines += ["ltlpipe.check(ring, 'G zz', unknown='never')"]
    script.write_text("\n".join(lines))

    done = subprocess.run(
        [sys.executable, "-W", f"{how}::UserWarning", str(script)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == (how == "error")
    if how == "error":
        assert f'File "{script}", line 5' in done.stderr
        assert done.stderr.splitlines()[-1].startswith("ltlpipe.runtime.errors.Ltlpipe")
    else:
        assert done.stderr.startswith(f"{script}:5: LtlpipeWarning: no action")


def test_threads_leave_filters_alone():
    """What is silenced or collected in one thread is given in another one."""
    before, both = [*warnings.filters], Barrier(2, timeout=60)

    def quiet(context, *, leaves_first):
        with context() as found:
            both.wait()  # both are inside
            warn("unheard")
            if not leaves_first:
                both.wait()
        if leaves_first:
            both.wait()
        return found

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(quiet, collecting, leaves_first=True)
        threads.submit(quiet, silenced, leaves_first=False).result(60)
    assert [str(each) for each in first.result()] == ["unheard"]
    assert warnings.filters == before
    with pytest.warns(match="^heard"):
        warn("heard")


def test_the_import_of_spot_where_warnings_are_errors():
    """Spot's modules warn as they are imported, and crashed where that is an error."""
    code = (
        "import ltlpipe; ring = ltlpipe.LTS.from_transitions([(0, 'a', 0)]);"
        "print(ltlpipe.check(ltlpipe.Network([ring]), 'G F a').verdict)"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("holds\n", 0)
