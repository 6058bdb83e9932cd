"""`ltlpipe info`: sizes, questions of a model's own, and states."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sizes_and_states(run):
    """Of a Promela model as Spin stores them; of others those of the search."""
    outcome = run("info", EXAMPLES / "promela" / "peterson.pml", "--count")
    first, properties, counts = outcome.out.splitlines()
    assert "peterson.pml: 2 processes, " in first
    assert properties == "properties: assertions, end states, exclusion, entry"
    assert counts == "38 states, 64 transitions"
    outcome = run("info", EXAMPLES / "factoring" / "clients.dot", "--count", "--json")
    (told,) = outcome.records
    assert told["components"] == 4
    assert told["states"] == 32
    assert "properties" not in told


def test_limits(run):
    """What was not counted is not told as if it were."""
    philosophers = EXAMPLES / "promela" / "philosophers.pml"
    outcome = run("info", philosophers, "-D", "N=4", "--count", "--max-states", 3)
    assert outcome.code == 3
    assert "not counted" in outcome.out
    assert run("info", philosophers).out.count("\n") == 2
