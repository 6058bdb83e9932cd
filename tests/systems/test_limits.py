"""Reading hostile and large files ends within the limits, whatever they hold."""

import gzip
import io
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from ltlpipe.runtime import workers
from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.runtime.files import read, read_bytes
from ltlpipe.runtime.jobs import Limits, StoppedError, run
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.reading import load, load_job
from tests.processes import SOON, children

SUFFIXES = [".dot", ".aut", ".hoa", ".dve", ".pnml"]

# Its BDD has more than 2^26 nodes: the first of each pair stands before all second.
LABEL = "|".join(f"({k}&{k + 26})" for k in range(26))
HOA = f"""\
HOA: v1 States: 1 Start: 0 AP: 52 {" ".join(f'"{k}"' for k in range(52))}
Acceptance: 0 t --BODY-- State: 0 [{LABEL}] 0 --END--
"""


def large(suffix):
    """Return the text of a system that takes long to read."""
    if suffix == ".hoa":
        return HOA
    if suffix == ".aut":
        rows = "".join(f"({k}, a{k % 9}, {k + 1})\n" for k in range(1_000_000))
        return f"des (0, 1000000, 1000001)\n{rows}"
    if suffix == ".dot":  # no tool writes two statements to a line
        rows = "".join(f"{k} -> {k + 1} [label=a]; {k};\n" for k in range(600_000))
        return f'digraph {{ s -> 0 [label=""]\n{rows}}}\n'
    if suffix == ".dve":
        states = ", ".join(f"s{k}" for k in range(50_000))
        rows = ",\n".join(f"s{k} -> s{k + 1} {{}}" for k in range(49_999))
        return f"process P {{ state {states}; init s0; trans\n{rows}; }}\nsystem async;"
    places = "".join(
        f'<place id="p{k}"/><transition id="t{k}"/>'
        f'<arc source="p{k}" target="t{k}"/><arc source="t{k}" target="p{k}"/>'
        for k in range(100_000)
    )
    return f'<pnml><net id="n" type="ptnet"><page>{places}</page></net></pnml>'


def no_orphans():
    workers.close_idle()
    deadline = time.monotonic() + SOON
    while children(os.getpid()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return children(os.getpid()) == []


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_timeout_ends_reading(suffix, tmp_path):
    path = tmp_path / f"large{suffix}"
    path.write_text(large(suffix))

    began = time.monotonic()
    with pytest.raises(StoppedError, match="timeout"):
        run(load_job(path), Limits(timeout=0.3))

    assert time.monotonic() - began < SOON
    assert no_orphans()


@pytest.mark.thorough("reads large files up to a limit, as another test does")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_memory_limit_ends_reading(suffix, tmp_path):
    path = tmp_path / f"large{suffix}"
    path.write_text(large(suffix))

    with pytest.raises(StoppedError, match="memory"):
        run(load_job(path), Limits(timeout=60, memory_mib=20))

    assert no_orphans()


@pytest.mark.thorough("reads large files up to a limit, as another test does")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_bomb_ends_at_the_memory_limit(suffix, tmp_path):
    """A megabyte that becomes a gigabyte; text of the format begins it."""
    begins = {".dot": "digraph {", ".aut": "des (0, 1, 1)\n", ".hoa": "HOA: v1\n"}
    begin = {**begins, ".dve": "byte b;\n", ".pnml": "<pnml>"}[suffix].encode()
    path = tmp_path / f"bomb{suffix}.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(begin)
        blanks = b" " * (1 << 20)
        for _ in range(300):
            stream.write(blanks)

    with pytest.raises(StoppedError, match="memory"):
        run(load_job(path), Limits(timeout=60, memory_mib=50))
    began = time.monotonic()
    with pytest.raises(StoppedError, match="timeout"):
        run(load_job(path), Limits(timeout=0.05))
    assert time.monotonic() - began < SOON


def test_expansion_has_a_bound(tmp_path, monkeypatch):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(3 << 20)))
    monkeypatch.setattr("ltlpipe.runtime.files.MAX_EXPANDED", 2 << 20)

    with pytest.raises(InputError, match="expands to more than"):
        run(read_bytes(path))


def test_many_members_are_expanded_in_linear_time(tmp_path):
    path = tmp_path / "many.gz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 100_000 + gzip.compress(b"end"))

    began = time.monotonic()
    assert run(read_bytes(path)) == b"end"
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".dve.gz"])
def test_what_is_no_regular_file_is_refused_at_once(suffix, tmp_path):
    """Opening a FIFO would block, and devices never end."""
    fifo = tmp_path / f"fifo{suffix}"
    os.mkfifo(fifo)
    device = tmp_path / f"device{suffix}"
    device.symlink_to("/dev/zero")
    listening = tmp_path / f"socket{suffix}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
        for path in (fifo, device, listening):
            began = time.monotonic()
            with pytest.raises(InputError, match="is not a regular file") as caught:
                load(path)
            assert str(caught.value).startswith(f"{path}: ")
            assert time.monotonic() - began < SOON


def test_a_file_that_grows_is_refused(tmp_path):
    path = tmp_path / "m.aut"
    path.write_bytes(b"x" * 100_000)
    job = read(path)
    next(job)
    with path.open("ab") as stream:
        stream.write(b"more")

    with pytest.raises(InputError, match="has changed while it was read"):
        run(job)


def test_open_files_and_standard_input(tmp_path, monkeypatch):
    """The format is known by the beginning; a pipe that stays open is waited for."""
    text = '/* a comment */ digraph { s -> 0 [label=""] 0 -> 0 [label=é] }'
    loop = LTS.from_transitions([(0, "é", 0)])
    data = text.encode()
    path = tmp_path / "without suffix"
    path.write_bytes(data)

    with path.open("rb") as binary, path.open(encoding="utf-8") as lines:
        for source in [
            binary,
            lines,
            io.BytesIO(data),
            io.StringIO(text),
            io.BytesIO(gzip.compress(data)),
        ]:
            assert load(source).components == (loop,)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert load("-").components == (loop,)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(writer, "wb") as sink:
        sink.write(data[:20])
        sink.flush()
        with pytest.raises(StoppedError, match="timeout"):
            run(load_job(source), Limits(timeout=0.2))
    reader, writer = os.pipe()
    with os.fdopen(reader, encoding="utf-8") as source:
        sink = os.fdopen(writer, "wb")
        thread = threading.Timer(0.1, lambda: (sink.write(data), sink.close()))
        thread.start()
        assert load(source).components == (loop,)
        thread.join()


def test_models_on_standard_input():
    text = "process P { state s; init s; trans s -> s {}; } system async;"
    code = "import ltlpipe; print(ltlpipe.load('-').variables)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True
    )
    assert done.stdout == "('P', 'error')\n"
    net = b'<pnml><net id="n" type="ptnet"><place id="p"/></net></pnml>'
    assert load(io.BytesIO(net)).variables == ("p",)
    with pytest.raises(InputError, match="expected the text of"):
        load(io.StringIO("something else"))


@pytest.mark.parametrize("suffix", [".dot", ".aut", ".dve", ".pnml"])
def test_workers_read_as_this_process_does(suffix, tmp_path, monkeypatch):
    """Results, warnings' places and errors do not depend on where text is parsed."""
    examples = {
        ".dot": 'digraph { s -> 0 [label=""] 0 -> 1 [label=a]; 1 -> 0 [label=é] }',
        ".aut": 'des (0, 2, 2)\n(0, i, 1)\n(1, "é", 0)\n',
        ".dve": "int x = 3; process P { state s, t; init s; accept t; trans s -> t "
        "{ guard x > 1 + 2, not x; effect x = x - -1; }, -> s {}; } system async;",
        ".pnml": '<pnml><net id="n" type="ptnet"><place id="p"><initialMarking><text>'
        '7</text></initialMarking></place><transition id="t"><name><text>T</text>'
        '</name></transition><arc source="p" target="t"/></net></pnml>',
    }
    text = examples[suffix]
    rng = random.Random(suffix)
    texts = [text, *(text[: rng.randrange(len(text))] for _ in range(12))]
    path = tmp_path / f"m{suffix}"

    def outcomes():
        for one in texts:
            path.write_text(one)
            try:
                yield described(load(path))
            except LtlpipeError as error:
                yield type(error), str(error)

    here = list(outcomes())
    monkeypatch.setattr("ltlpipe.systems.reading._is_small", lambda form, data: False)
    assert list(outcomes()) == here


def described(system):
    """Return all that is known of a system."""
    if hasattr(system, "components"):
        return [(c.name, c.internal, c) for c in system.components]
    if hasattr(system, "program"):
        return repr(system.program.variables), repr(system.program.processes)
    return system.places, system.transitions, system.name


def test_ctrl_c_ends_reading(tmp_path):
    path = tmp_path / "m.hoa"
    path.write_text(HOA)
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        load(path)
    assert time.monotonic() - began < SOON
    assert no_orphans()
