"""``ltlpipe check --certificate`` and ``ltlpipe verify``."""

from __future__ import annotations


def test_commands(ring, tmp_path, run):
    """From the question to the proof, with exit codes."""
    system, path = ring, tmp_path / "ring.cert"
    asked = ["check", str(system), "-f", "G(a -> F b)"]
    outcome = run(*asked, "--certificate", str(path), "--json")
    assert outcome.code == 0
    (record,) = outcome.records
    assert record["certificate"]["states"] == 3
    assert record["certificate"]["bytes"] == path.stat().st_size
    outcome = run("verify", str(path))
    assert outcome.code == 0
    assert outcome.out.startswith("verified: no run of")
    outcome = run("verify", str(path), "--json")
    assert outcome.records[0]["result"] == "verified"
    path.write_bytes(path.read_bytes()[:-1])
    outcome = run("verify", str(path))
    assert (outcome.code, "ends early" in outcome.out) == (1, True)
    outcome = run("verify", str(system))
    assert outcome.code == 2
    assert "expected a certificate" in outcome.err


def test_a_violation_has_none(ring, tmp_path, run):
    """The lasso is the proof."""
    system, path = ring, tmp_path / "ring.cert"
    outcome = run("check", str(system), "-f", "G a", "--certificate", str(path))
    assert outcome.code == 1
    assert "no certificate" in outcome.err
    assert not path.exists()


def test_one_formula_at_a_time(ring, tmp_path, run):
    """A file holds one certificate."""
    system = ring
    outcome = run(
        *("check", str(system), "-f", "G a", "-f", "F a"),
        *("--certificate", str(tmp_path / "c")),
    )
    assert outcome.code == 2
    assert "--certificate goes with one formula" in outcome.complaint
