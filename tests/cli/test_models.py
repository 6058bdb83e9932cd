"""Commands on models: what is checked, compared and solved, and how it is told."""

from __future__ import annotations

import json

import pandas as pd
import pytest

NET = """<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
{nodes}
</page></net></pnml>
"""


def ring(n):
    """A token that goes round n places."""
    nodes = []
    for i in range(n):
        marking = "<initialMarking><text>1</text></initialMarking>" if i == 0 else ""
        nodes.append(f'<place id="p{i}">{marking}</place><transition id="t{i}"/>')
        nodes.append(f'<arc id="a{i}" source="p{i}" target="t{i}"/>')
        nodes.append(f'<arc id="b{i}" source="t{i}" target="p{(i + 1) % n}"/>')
    return NET.format(nodes="\n".join(nodes))


@pytest.fixture
def model(tmp_path):
    """A file with a token that goes round five places."""
    path = tmp_path / "ring.pnml"
    path.write_text(ring(5))
    return path


def test_check_says_what_the_model_does(run, model):
    done = run("check", model, "-f", 'G(action=="t1" -> X p2 == 1)', "-f", "F p4 > 1")
    assert done.code == 1
    assert "holds: G(action" in done.out
    assert "initial state: p0=1" in done.out
    assert "t0  p0: 1 -> 0, p1: 0 -> 1" in done.out
    done = run("check", model, "-f", "F p4 > 1", "--json")
    lasso = json.loads(done.out)["lasso"]
    assert lasso["prefix"] == []
    assert lasso["cycle_actions"] == ["t0", "t1", "t2", "t3", "t4"]
    assert lasso["cycle"][0]["p0"] == 1


def test_compare_takes_models(run, model):
    done = run(
        *("compare", model, "-f", "G F p1 == 1", "-f", "F p4 > 1"),
        *("--emptiness", "se05,couvreur99", "--json"),
    )
    assert done.code == 1
    assert [r["verdict"] for r in done.records] == ["holds"] * 2 + ["violated"] * 2


def test_folders_may_hold_models(run, tmp_path):
    (tmp_path / "system.pnml").write_text(ring(3))
    (tmp_path / "formulas.ltl").write_text("G F p1 == 1\nG(p0 == 1 -> X p1 == 1)\n")
    out = tmp_path / "out.csv"
    assert run("solve", tmp_path, "--out", out).code == 0
    rows = pd.read_csv(out)
    assert rows["verdict"].tolist() == ["holds", "holds"]
    assert rows["states"].min() >= 3


CLAIM = """
byte n = 0;
process P { state s, c; init s; trans s -> c { guard n < 3; effect n = n + 1; },
  s -> c { guard n < 3; effect n = n + 1; }, c -> s {}; }
process Never { state q; init q; accept q; trans q -> q { guard n < 9; }; }
system async PROPERTY;
"""


def test_a_property_process(run, tmp_path):
    """`check` asks what the file says, and the recorded lasso can be replayed."""
    path = tmp_path / "m.dve"
    path.write_text(CLAIM.replace("PROPERTY", "property Never"))
    outcome = run("check", path, "--json")
    assert (outcome.code, outcome.records[0]["verdict"]) == (1, "violated")
    assert "#" in outcome.out
    told = tmp_path / "told.json"
    for text in (outcome.out, outcome.out.replace(" #1", "").replace(" #2", "")):
        told.write_text(text)  # until version 0.2 without numbers
        assert run("check", "--verify", told).code == 0
    both = run("check", path, "-f", "G n<=3")
    assert (both.code, "the property process is no part" in both.err) == (0, True)


def test_no_property(run, tmp_path):
    """Then a formula has to be given."""
    path = tmp_path / "m.dve"
    path.write_text(CLAIM.replace(" PROPERTY", ""))
    outcome = run("check", path)
    assert (outcome.code, "expected one of -f" in outcome.err) == (2, True)
