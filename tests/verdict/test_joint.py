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
    for place, verdict in found.violations.items():
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
    for place, verdict in found.verdicts.items():
        expected = check(model, texts[place], reduce="none").verdict
        assert verdict.verdict == expected == "holds", (seed, texts)
        assert verdict.formula == texts[place]
        assert len(verdict.stats.details[TOGETHER]) == len(found.verdicts)
    holding = [
        place
        for place, text in enumerate(texts)
        if text[0] == "G" and check(model, text, reduce="none").verdict == "holds"
    ]
    assert sorted(found.verdicts) == (holding if len(holding) > 1 else []), (
        seed,
        texts,
    )
    return len(found.verdicts) + len(found.violations)


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
        assert sorted(found.verdicts) == [1, 2]
        assert sorted(found.violations) == [0]
        assert n_asked == 2
        return
