"""Invariants of one model that one search answers."""

from __future__ import annotations

import random

import pytest

from ltlpipe import check
from ltlpipe.automata.words import violates
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.jobs import complete
from ltlpipe.verdict.joint import TOGETHER, Joint, is_invariant, joined, joint_verdicts
from tests.example_counts import at_least, examples
from tests.por.models.test_statements import atoms, random_model

pytestmark = pytest.mark.filterwarnings("ignore::ltlpipe.runtime.errors.LtlpipeWarning")


def together(model, texts, **options):
    """What was shown, and how many searches were asked for."""
    asked = []

    def ask(question):
        asked.append(question)
        return check(model, question.formula, **options)

    questions = [Property(parse(text)) for text in texts]
    found = joint_verdicts(model, questions, Options(**options), ask, complete)
    return found, len(asked)


def compare(seed):
    """Ask a random model; return how many questions were answered together."""
    (model, states), rng = random_model(seed), random.Random(seed)
    if states is None:
        return 0
    texts = [f"G {atom}" for atom in atoms(rng, model, 2)]
    (atom,) = atoms(rng, model, 1)
    texts += [f"G(deadlock -> {atom})", f"F {atom}", f"G !({atom} && !{atom})"]
    if seed % 3 != 2:
        texts.append("G !_fault")
    rng.shuffle(texts)
    found, _ = together(model, texts)
    best = {p: v for p, v in found.verdicts.items() if v.verdict == "violated"}
    for place, verdict in [*found.violations.items(), *best.items()]:
        alone = check(model, texts[place], reduce="none")
        assert verdict.verdict == alone.verdict == "violated", (seed, texts)
        assert verdict.formula == verdict.lasso.formula == texts[place]
        formula, (_, letters, word) = parse(texts[place]), verdict.lasso.spelling
        bad = (
            n_steps
            for n_steps in range(1, len(word) + 1)
            if complete(violates(formula, letters, word[:n_steps], n_steps - 1))
        )
        assert verdict.lasso.bad_prefix == next(bad), (seed, texts)
        if place in best and verdict.lasso.shortest_of:
            n_steps = len(verdict.lasso.actions)
            assert n_steps <= len(alone.lasso.actions), (seed, texts)
            _is_run_of(model, texts[place], verdict.lasso)
    held = {p: v for p, v in found.verdicts.items() if p not in best}
    for place, verdict in held.items():
        expected = check(model, texts[place], reduce="none").verdict
        assert verdict.verdict == expected == "holds", (seed, texts)
        assert verdict.formula == texts[place]
        assert len(verdict.stats.details[TOGETHER]) == len(held)
    holding = [
        place
        for place, text in enumerate(texts)
        if text[0] == "G" and check(model, text, reduce="none").verdict == "holds"
    ]
    assert sorted(held) == (holding if len(holding) > 1 else []), (
        seed,
        texts,
    )
    return len(found.verdicts) + len(found.violations)


def _is_run_of(model, text, lasso):
    """Whether a question alone is about a model that has the run of a lasso."""
    about = model.for_question([text])
    for before, action, after in zip(
        lasso.states, lasso.actions, lasso.states[1:], strict=False
    ):
        steps = list(about.each_step(tuple(before.tolist())))
        if action < 0:
            assert not steps
        else:
            assert (action, tuple(after.tolist())) in steps


def test_random_models():
    """All invariants that hold, if there are two, and nothing else."""
    assert sum(map(compare, range(examples(40)))) >= at_least(40)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_random_models(part):
    assert sum(map(compare, range(1000 + 100 * part, 1100 + 100 * part))) > 100


def test_what_is_not_asked_together():
    """Other formulas, and where options say more than how to search."""
    assert is_invariant(parse("G(a && !b)"))
    assert not any(map(is_invariant, map(parse, ["F a", "G F a", "a", "G(a -> X b)"])))
    assert joined([parse(f"G a{i}") for i in range(9)]) is None
    model, _ = random_model(0)
    for options in ({"deadlock": "ignore"}, {"vacuity": True}, {"bitstate": 1}):
        assert together(model, ["G true", "G !deadlock"], **options) == (
            Joint({}, {}),
            0,
        )


def test_what_is_violated_is_left_out():
    """Then the others are asked once more, together."""
    for seed in range(50):
        model, states = random_model(seed)
        if states is None:
            continue
        (atom,) = atoms(random.Random(seed), model, 1)
        always = f"{atom} || !{atom}"
        texts = [f"G !({always})", f"G(deadlock -> {always})", f"G({always})"]
        found, n_asked = together(model, texts)
        assert sorted([*found.verdicts, *found.violations]) == [0, 1, 2]
        assert [found.verdicts[place].verdict for place in (1, 2)] == ["holds"] * 2
        assert n_asked == 2
        return
