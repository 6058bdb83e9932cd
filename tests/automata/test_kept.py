"""A copy of the process that is kept for many bounded calls."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check
from ltlpipe.automata import kept
from ltlpipe.automata.bounded import KEPT, call_bounded
from ltlpipe.automata.kept import kept_copy, uncounted_cpu_seconds
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import StoppedError
from tests.strategies import formulas, networks


def pid():
    return call_bounded(os.getpid, deadline=None)


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def grow(n_bytes):
    grow.kept = b"x" * n_bytes


def is_alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True, scope="module")
def copied():
    with kept_copy():
        yield
    assert not KEPT


def test_it_lives_on():
    """From call to call, and not beyond the block."""
    first = pid()
    assert first != os.getpid()
    assert [pid() for _ in range(50)] == 50 * [first]
    with kept_copy():  # one is enough
        assert pid() == first
    assert is_alive(first)
    KEPT[os.getpid(), threading.get_ident()].end()
    assert not is_alive(first)
    assert pid() != first


def test_what_cannot_travel():
    """A lambda is called in a copy of its own, as without a kept one."""
    first = pid()
    assert call_bounded(lambda: os.getpid(), deadline=None) not in (first, os.getpid())
    assert pid() == first


class OneWay:
    """Goes into a pickle and does not come out."""

    def __call__(self):
        return os.getpid()

    def __reduce__(self):
        return divmod, (1, 0)


def test_what_does_not_arrive():
    """It is called in a copy of its own, too; that is no error of the call."""
    first = pid()
    assert call_bounded(OneWay(), deadline=None) not in (first, os.getpid())
    assert pid() == first


def test_large_answers_and_questions():
    data = b"x" * 10_000_000
    assert call_bounded(partial(bytes.upper, data), deadline=None) == data.upper()


def test_an_error_comes_back():
    """As the exception that it was; the copy goes on."""
    first = pid()
    with pytest.raises(ZeroDivisionError):
        call_bounded(partial(divmod, 1, 0), deadline=None)
    assert pid() == first


@pytest.mark.parametrize(
    ("seconds", "stopped", "reason"),
    [(0.1, False, "timeout"), (None, True, "interrupted")],
    ids=["timeout", "interrupted"],
)
def test_a_long_call_is_ended(seconds, stopped, reason):
    """Its copy goes with it, and the next call has another."""
    first = pid()
    started = time.monotonic()
    with pytest.raises(StoppedError) as error:
        call_bounded(
            partial(time.sleep, 60),
            deadline=None if seconds is None else started + seconds,
            stopped=lambda: stopped,
        )
    assert error.value.reason == reason
    assert time.monotonic() - started < 5
    assert not is_alive(first)
    assert pid() != first


def test_a_crash_costs_one_call():
    with pytest.raises(UnsupportedError, match="crashed"):
        call_bounded(partial(os._exit, 11), deadline=None)
    with pytest.raises(StoppedError) as error:
        call_bounded(partial(signal.raise_signal, signal.SIGKILL), deadline=None)
    assert error.value.reason == "memory"
    assert pid()


def test_killed_at_leisure():
    """Nobody notices."""
    first = pid()
    os.kill(first, signal.SIGKILL)
    time.sleep(0.1)
    assert pid() != first


def test_one_that_has_grown_is_replaced(monkeypatch):
    """Spot's tables never shrink; what a task has left is not the next one's."""
    monkeypatch.setattr(kept, "_MOST_GROWTH", 32 << 20)
    first = pid()
    call_bounded(partial(grow, 1 << 26), deadline=None)
    second = pid()
    assert second != first
    assert pid() == second


def test_what_the_parent_has_open_is_its_own():
    """The other end of a pipe hears of it when the parent closes its own."""
    reader, writer = os.pipe()
    pid()
    KEPT[os.getpid(), threading.get_ident()].end()
    pid()  # this copy began with both
    os.close(writer)
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_cpu_time():
    """What the copy has used counts once, also after its end."""

    def used():
        return sum(os.times()[:4]) + uncounted_cpu_seconds()

    pid()
    before = used()
    call_bounded(partial(spin, 0.3), deadline=None)
    assert 0.28 <= used() - before < 1
    KEPT[os.getpid(), threading.get_ident()].end()
    assert 0.28 <= used() - before < 1


def test_threads_and_copies_do_not_share_it():
    """An answer is never given to somebody else."""
    first, found = pid(), []
    thread = threading.Thread(target=lambda: found.append(pid()))
    thread.start()
    thread.join()
    inner = call_bounded(lambda: pid(), deadline=None)  # asks from within a copy
    assert first not in (*found, inner)
    assert pid() == first


def test_formulas_travel():
    """As what they say."""
    text = 'G(a -> "b c" WU !d)'
    formula = parse(text, file="f.ltl", line=3)
    there = call_bounded(partial(_same, formula), deadline=None)
    assert there == formula
    assert there.identifier == "f.ltl:3"
    assert there.spot == formula.spot


def _same(formula):
    return formula


def test_an_interrupted_call_leaves_no_answer():
    """Ctrl-C at any moment of a call: the next one is not given its answer."""

    armed = []

    def interrupt(_number, _frame):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    pid()
    interrupted = 0
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(100):
            try:
                armed.append(k)
                signal.setitimer(signal.ITIMER_REAL, 1e-5 * (k + 1))
                call_bounded(partial(str, f"question {k}"), deadline=None)
                armed.clear()
            except KeyboardInterrupt:
                interrupted += 1
            assert call_bounded(partial(str, k), deadline=None) == str(k)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert interrupted


def agree(cases, **options):
    """Verdicts with one copy for all questions are those of a copy for each."""
    owner = (os.getpid(), threading.get_ident())
    kept_one = [check(*case, **options) for case in cases]
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(KEPT, owner)
        fresh = [check(*case, **options) for case in cases]
    for one, other in zip(kept_one, fresh, strict=True):
        assert (one.verdict, one.reason) == (other.verdict, other.reason)


@pytest.mark.filterwarnings("ignore::ltlpipe.LtlpipeWarning")
@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(networks(), formulas()), min_size=5, max_size=5))
def test_the_verdicts_are_the_same(cases):
    agree(cases, emptiness="couvreur99", reduce="none")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ltlpipe.LtlpipeWarning")
@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(networks(), formulas()), min_size=5, max_size=5))
def test_the_verdicts_are_the_same_of_many(cases):
    agree(cases)
