"""`ltlpipe generate` of Petri nets, and the nets that ship as examples."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmarks.families.nets import coloured_peers, dining, token_ring
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.systems.nets.coloured.net import (
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.unfolding import unfolded
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.writing import pnml_text, save_pnml
from ltlpipe.systems.reading import load
from ltlpipe.verdict import deadlocks
from tests.cli.command_line import program

CLIENTS = unfolded(coloured_client_server(2, 1))
COLOURS = ("a", "b", "c")
TAKE = ColouredTransition("t", "t", TRUE, ((0, Tokens(1, (Bound(0, 0, 3),))),), ())
TAKEN = ColouredNet(
    "taken",
    (Sort("S", "S", ENUMERATION, COLOURS, COLOURS),),
    (Variable("x", "x", 0),),
    (ColouredPlace("p", "p", (0,), Tokens(1, (Constant(1),))),),
    (TAKE,),
)
"""Two of its colours are never there."""

EXAMPLES = Path(__file__).parents[2] / "examples" / "pnml"


@pytest.mark.parametrize(
    ("args", "net"),
    [
        (["coloured-client-server", 2, 1, "--unfolded"], CLIENTS),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, list) else "",
)
def test_generate_nets(args, net, run, tmp_path):
    """The family's member, on standard output or in a file."""
    printed = run("generate", *args)
    saved = run("generate", *args, "-o", tmp_path / "x.pnml.gz")

    assert (printed.code, printed.err) == (0, "")
    assert saved == (0, "", f"wrote {tmp_path}/x.pnml.gz\n")
    data = gzip.decompress((tmp_path / "x.pnml.gz").read_bytes())
    assert data.decode() == printed.out == pnml_text(net)
    assert parse_pnml(data, "x").transitions == net.transitions


def test_sizes_that_make_no_net(run):
    outcome = run("generate", "coloured-client-server", 0, 1)
    assert (outcome.code, outcome.out) == (2, "")
    assert "use one of each at least" in outcome.err


@pytest.mark.parametrize(
    ("name", "net"),
    [("dining-4", dining(4)), ("token-ring-5", token_ring(5))],
)
def test_examples_are_members_of_families(name, net):
    assert (EXAMPLES / f"{name}.pnml").read_text(encoding="utf-8") == pnml_text(net)


def test_the_example_written_by_hand():
    """A vending machine: weights, names beside ids, a place without bound."""
    net = load(EXAMPLES / "vending.pnml")
    assert net.variables == ("purse", "credit", "cups", "served")
    assert net.actions == ("earn", "insert coin", "buy tea", "return coin")
    assert net.initial() == (3, 0, 2, 0)
    states = {net.initial()}
    for _ in range(9):
        states |= {target for state in states for _, target in net.steps(state)}
    assert max(purse for purse, *_ in states) > 9  # whoever earns has ever more
    assert {served for *_, served in states} == {0, 1, 2}
    assert net.bounds.tokens[2:] == [2, 2]
    assert net.bounds.tokens[:2] == [None, None]


def test_the_first_marking_of_a_large_net_is_what_is_marked(run, tmp_path):
    """Places without tokens are left out, and it is said that they are."""
    net = tmp_path / "peers.pnml"
    save_pnml(coloured_peers(6), net)

    done = run("check", net, "-f", "G(talking == 0)")

    marked = " ".join(f"rest.{k}=1" for k in range(1, 7))
    assert f"  initial state: {marked}; all others 0\n" in done.out


UNBOUNDED = """<pnml><net id="n" type="ptnet"><place id="idle">
<initialMarking><text>1</text></initialMarking></place><place id="box"/>
<transition id="send"/><transition id="recv"/><arc source="idle" target="send"/>
<arc source="send" target="idle"/><arc source="send" target="box"/>
<arc source="box" target="recv"/></net></pnml>"""


def test_an_unbounded_net(run, tmp_path, monkeypatch):
    """It is said, and there is no answer; exit code 3."""
    monkeypatch.setattr(deadlocks, "PATIENCE", 5e4)
    path = tmp_path / "box.pnml"
    path.write_text(UNBOUNDED)
    outcome = run("check", path, "-f", 'G F action=="recv"')
    assert outcome.code == 3
    assert outcome.out.startswith("unknown (unbounded): G F action")
    said = "send can be repeated without end, each time with more tokens in box"
    assert f"warning: the net is unbounded: {said}" in outcome.err
    assert run("deadlocks", path).code == 3


@pytest.mark.parametrize("options", [(), ("--past",), ("--deadlock", "error")])
def test_fair_runs_of_symmetric_nets(options, run, tmp_path):
    """They are runs of the net itself, which other commands take."""
    file, lasso = tmp_path / "taken.pnml", tmp_path / "lasso.json"
    file.write_text(pnml_text(TAKEN))
    asked = run("check", file, "-f", "G p>=1", "--fairness=weak", "--json", *options)
    lasso.write_text(asked.out)
    (told,) = asked.records
    states = told["lasso"] or told["finite_run"]
    first = states["prefix"][0] if told["lasso"] else states["states"][0]
    assert first == {"p.a": 0, "p.b": 1, "p.c": 0}
    verified = run("check", file, "--verify", lasso)
    assert (verified.code, verified.out) == (0, "confirmed: G p>=1\n")
    stepped = program("simulate", file, "--lasso", lasso, "--plain", input="next\n")
    assert (stepped.code, stepped.err) == (0, "")
    assert "after 1 step: p.a=0 p.b=0 p.c=0" in stepped.out


def test_small_symmetric_nets_are_explored(run, tmp_path):
    (tmp_path / "taken.pnml").write_text(pnml_text(TAKEN))
    outcome = run("info", tmp_path / "taken.pnml")
    assert "2 reachable; a deadlock after 1 step" in outcome.out
