"""Certificates as files: digests, damage, hostile contents."""

from __future__ import annotations

import json

import pytest

from ltlpipe import InputError, LtlpipeError, check, verify_certificate
from tests.certificates.parts import MAGIC, parts_of
from tests.cli.running import RING


@pytest.fixture
def certified(tmp_path):
    """A certificate of the ring, beside its file."""
    system, path = tmp_path / "ring.aut", tmp_path / "ring.cert"
    system.write_text(RING)
    check(str(system), "G(a -> F b)", certificate=str(path))
    return system, path


def test_what_is_said(certified):
    """The claim, what it rests on, and the figures."""
    system, path = certified
    verification = verify_certificate(str(path))
    assert verification.result == "verified"
    assert verification.claim == f"no run of {system} violates G(a -> F b)"
    assert (verification.states, verification.transitions) == (3, 3)
    assert [t.partition(",")[0] for t in verification.trusted] == [
        "that the files of the system mean what ltlpipe reads in them",
        "Spot",
    ]


def test_a_system_that_has_changed(certified):
    """Even by a blank."""
    system, path = certified
    system.write_text(RING + "\n")
    verification = verify_certificate(str(path))
    assert verification.reason == f"{system} is not the file that was checked"


def test_a_digest_that_has_changed(certified):
    """One digit of it."""
    _, path = certified
    parts = parts_of(path)
    known = parts.header["system"]["files"][0]
    known["sha256"] = known["sha256"][:-1] + "x"
    parts.write(path)
    assert "is not the file" in verify_certificate(str(path)).reason


def test_files_elsewhere(certified, tmp_path):
    """In another folder, or under another name."""
    system, path = certified
    moved = tmp_path / "other"
    moved.mkdir()
    system.rename(moved / "ring.aut")
    with pytest.raises(InputError, match=r"ring\.aut"):
        verify_certificate(str(path))
    assert verify_certificate(str(path), system_root=str(moved)).result == "verified"
    moved = (moved / "ring.aut").rename(moved / "r.aut")
    assert verify_certificate(str(path), str(moved)).result == "verified"


def test_another_formula(certified):
    """Spot is asked whether the automaton is one of its violations."""
    _, path = certified
    parts = parts_of(path)
    parts.header["formula"] = "G(b -> X b)"
    parts.write(path)
    reason = verify_certificate(str(path)).reason
    assert reason == "the automaton misses words that violate the formula"


def test_an_automaton_that_accepts_less(certified):
    """One without transitions proves nothing."""
    _, path = certified
    parts = parts_of(path)
    text = parts.header["automaton"]
    parts.header["automaton"] = "\n".join(
        line for line in text.splitlines() if not line.startswith("[")
    )
    parts.write(path)
    assert "misses words" in verify_certificate(str(path)).reason


def test_every_prefix_is_refused(certified):
    """A file that ends early, wherever."""
    _, path = certified
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        if length < len(b"ltlpipe certificate ") and not length:
            with pytest.raises(InputError):
                verify_certificate(str(path))
            continue
        assert verify_certificate(str(path)).result == "refused", length
    path.write_bytes(data + b"x")
    assert "goes on" in verify_certificate(str(path)).reason


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_every_byte_matters_or_does_not(certified):
    """Whatever byte is changed: no error but those of ltlpipe, and no false claim."""
    _, path = certified
    data = path.read_bytes()
    claims = set()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            verification = verify_certificate(str(path))
        except LtlpipeError:
            continue
        if verification.result == "verified":
            claims.add(verification.claim.partition(" violates ")[2])
    assert "G(a -> F b)" in claims
    system = str(certified[0])
    assert all(check(system, claim).holds for claim in claims)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("states", 1 << 40),
        ("states", -1),
        ("states", True),
        ("block", 1 << 40),
        ("block", 0),
        ("columns", ["automaton"]),
        ("columns", [1, 2, 3]),
        ("clauses", [{"fin": [99], "inf": [], "lacks": []}]),
        ("clauses", [{"fin": [], "inf": [], "lacks": [0]}]),
        ("clauses", []),
        ("clauses", [7]),
        ("letters", "states"),
        ("deadlock", None),
        ("fairness", "strict"),
        ("fair_sets", "a"),
        ("automaton", ""),
        ("automaton", "HOA: v1\nStates: 99999999999\n--BODY--\n--END--\n"),
        ("formula", "G("),
        ("formula", None),
        ("asked", "empty"),
        ("system", {"files": [{"path": "/etc/passwd"}]}),
        ("never", ["a"]),
    ],
)
def test_headers_that_make_no_sense(certified, field, value):
    """Each is refused, and quickly."""
    _, path = certified
    data = path.read_bytes()
    line, _, rest = data[len(MAGIC) :].partition(b"\n")
    header = json.loads(line) | {field: value}
    path.write_bytes(MAGIC + json.dumps(header).encode() + b"\n" + rest)
    if field == "never":  # means nothing for what the automaton names
        assert verify_certificate(str(path)).result == "verified"
        return
    if value == 1 << 40 and field == "states":
        with pytest.raises(LtlpipeError, match="memory limit"):
            verify_certificate(str(path), memory=1000)
        return
    assert verify_certificate(str(path)).result == "refused"


def test_other_files(tmp_path):
    """What is no certificate is bad input."""
    path = tmp_path / "a.cert"
    for text in ("", "something else\n", "ltlpipe certificate 2\n{}\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="expected a certificate"):
            verify_certificate(str(path))
    with pytest.raises(InputError, match="No such file"):
        verify_certificate(str(tmp_path / "none.cert"))


def test_a_file_that_cannot_be_written(tmp_path):
    """An error, and nothing is left behind."""
    system = tmp_path / "ring.aut"
    system.write_text(RING)
    path = tmp_path / "none" / "ring.cert"
    with pytest.raises(InputError, match="cannot be written"):
        check(str(system), "G(a -> F b)", certificate=str(path))


def test_a_limit_leaves_the_verdict(tmp_path, monkeypatch):
    """What was found holds; there is no certificate, and a warning says it."""
    from ltlpipe.runtime.jobs import StoppedError

    def stopped(*_):
        yield from ()
        raise StoppedError("memory")

    monkeypatch.setattr("ltlpipe.certificates.writing.certificate._ranks", stopped)
    system, path = tmp_path / "ring.aut", tmp_path / "ring.cert"
    system.write_text(RING)
    with pytest.warns(match="no certificate is written: memory"):
        verdict = check(str(system), "G(a -> F b)", certificate=str(path))
    assert (verdict.verdict, verdict.certificate) == ("holds", None)
    assert list(tmp_path.iterdir()) == [system]
