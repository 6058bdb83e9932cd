"""What every function says to a network, a DVE model and a Petri net.

It is an answer, or an error that says what the function is for.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import spot

import ltlpipe
from ltlpipe import UnsupportedError, check
from ltlpipe.cli import main
from ltlpipe.components import reduce
from ltlpipe.logic.formulas import parse
from ltlpipe.verdict.checking import product_size

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {
    "dve": EXAMPLES / "dve" / "peterson.dve",
    "pnml": EXAMPLES / "pnml" / "token-ring-5.pnml",
}
# A proposition that holds again and again on some runs only, and another.
OFTEN = {"dve": "P_0.critical", "pnml": "critical0==1"}
OTHER = {"dve": "P_1.critical", "pnml": "critical1==1"}
# An action without which the model can go on, and one without which it cannot.
AVOIDABLE = {"dve": "P_0: waiting -> critical", "pnml": "enter0"}
RING = ltlpipe.Network(
    [ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0), (0, "c", 0)])], "ring"
)

each_kind = pytest.mark.parametrize("kind", FILES)


def loaded(kind):
    return ltlpipe.load(FILES[kind])


@each_kind
def test_models_are_no_networks_to_be_saved(kind, tmp_path):
    """No file is written, and the message names the model."""
    model = loaded(kind)
    with pytest.raises(
        UnsupportedError, match=rf"{model.name}: a \.dot file would lose"
    ):
        ltlpipe.save(model, tmp_path / "m.dot")
    assert not list(tmp_path.iterdir())


@each_kind
def test_sccs_are_of_networks(kind):
    with pytest.raises(UnsupportedError, match="enumerating SCCs needs a network"):
        ltlpipe.sccs(loaded(kind))


@pytest.mark.parametrize("system", [RING, *map(loaded, FILES)], ids=["network", *FILES])
def test_single_components_are_reduced(system):
    with pytest.raises(UnsupportedError, match="give one LTS of a network"):
        reduce(system)


@each_kind
def test_livelock(kind):
    """There is one unless every action is progress; the run shows no progress."""
    model = loaded(kind)
    found = ltlpipe.livelock(model, [AVOIDABLE[kind]])
    assert found.verdict == "violated"
    assert AVOIDABLE[kind] not in found.lasso.cycle_actions

    if kind == "dve":  # the net has 20 actions: letters are sets of propositions
        assert ltlpipe.livelock(model, model.actions).verdict == "holds"
    with pytest.raises(UnsupportedError, match="no action of the system is called 'x'"):
        ltlpipe.livelock(model, ["x"])


@each_kind
@pytest.mark.parametrize("formula", ["GF {}", "G(!({}) | X !({}))", "F G !({})"])
@pytest.mark.parametrize("way", [{}, {"emptiness": "couvreur99"}])
def test_constraint(kind, formula, way):
    """The same as to ask for it on condition that the constraint holds."""
    model, often = loaded(kind), OFTEN[kind]
    asked = formula.replace("{}", f'"{often}"')
    other = f'GF "{OTHER[kind]}"'
    constraint = spot.translate(other, "Buchi")

    verdict = check(model, asked, constraint=constraint, **way)

    assert verdict.verdict == check(model, f"{other} -> {asked}").verdict
    assert verdict.formula == parse(asked).text


@each_kind
@pytest.mark.parametrize("formula", ["GF {}", "G(!({}) | X({}))", "{} R true"])
def test_translator(kind, formula, tmp_path):
    """A script around Spot comes to the verdicts of Spot."""
    script = tmp_path / "translate.py"
    script.write_text(
        "import sys, spot\nprint(spot.translate(sys.argv[1], 'Generic').to_str('hoa'))"
    )
    asked = formula.replace("{}", f'"{OFTEN[kind]}"')
    command = f"{sys.executable} {script} %f"

    verdict = check(loaded(kind), asked, translator=command)

    assert verdict.verdict == check(loaded(kind), asked).verdict


@each_kind
def test_product_size(kind):
    """Of the product with an automaton of one state: the states of the model."""
    size = product_size(loaded(kind), parse("false"), acceptance="ba")
    whole = check(loaded(kind), "true", reduce="none", emptiness="couvreur99")
    assert size is not None
    assert size.states >= (whole.stats.states or 0) > 0


@each_kind
def test_solve_and_compare(kind):
    """Models are tasks as good as networks are."""
    formula = f'GF "{OFTEN[kind]}"'
    (row,) = ltlpipe.solve([(FILES[kind], formula)]).to_dict("records")
    assert row["verdict"] == "violated"

    rows = ltlpipe.compare(loaded(kind), [formula], emptiness="se05,couvreur99")
    assert list(rows["verdict"]) == ["violated", "violated"]


@each_kind
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["convert", "{}", "{out}"], "would lose all that --propositions does not"),
        (["reduce", "{}", "-o", "{out}"], "a model, expected components of a network"),
    ],
    ids=["convert", "reduce"],
)
def test_commands_for_networks(kind, command, reason, tmp_path, monkeypatch, capsys):
    """A model is refused in one line."""
    out = tmp_path / "m.hoa"
    arguments = [a.format(FILES[kind], out=out) for a in command]
    monkeypatch.setattr(sys, "argv", ["ltlpipe", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert reason in capsys.readouterr().err
    assert not out.exists()
