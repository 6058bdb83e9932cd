"""A certificate that has been changed is refused, unless it still is a proof."""

from __future__ import annotations

import copy
import random
import tempfile
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import (
    LTS,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    verify_certificate,
)
from ltlpipe.automata.given_automata import parse_automata
from tests.certificates.parts import parts_of, product_states, proves
from tests.certificates.test_round_trip import (
    DEADLOCKS,
    FORMULAS,
    REDUCTIONS,
    SMALL,
    SYSTEMS,
    WAYS,
)
from tests.cross.test_agreement import ask
from tests.example_counts import examples
from tests.hypothesis_strategies import hoa_automata

SEEDS = st.integers(0, 1 << 30)


def certificate_of(network, **asked):
    """The parts of a certificate; None if the question does not hold."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        path = Path(folder) / "a.cert"
        check(network, unknown="never", certificate=str(path), **asked)
        return parts_of(path, network) if path.exists() else None


def result_of(network, parts):
    """What becomes of a certificate: verified, conditional, or why it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.cert"
        parts.write(path)
        verification = verify_certificate(str(path), network)
        return verification.reason or verification.result


def mutant(rng, network, parts):
    """The same certificate with one thing changed."""
    changed = copy.deepcopy(parts)
    clauses, states = changed.header["clauses"], changed.states
    n = len(network.components) + 1
    kinds = ["missing", "added", "initial", "local"]
    if clauses:
        kinds += ["rank"] * 4 + ["clause", "mark"]
    kind = rng.choice(kinds)
    row = rng.choice(states)
    if kind == "rank":
        at = rng.randrange(n, len(row))
        row[at] = max(row[at] + rng.choice([-2, -1, 1, 2]), 0)
    elif kind == "mark":
        lacks = rng.choice(clauses)["lacks"]
        if lacks:
            lacks[rng.randrange(len(lacks))] = rng.randrange(4)
        else:
            lacks.append(rng.randrange(4))
    elif kind == "clause":
        told = rng.choice(clauses)
        part = told[rng.choice(["fin", "inf"])]
        if part and rng.random() < 0.5:
            part.pop(rng.randrange(len(part)))
        else:
            part.append(rng.randrange(4))
    elif kind == "missing":
        states.remove(row)
    elif kind in ("added", "local"):
        at = rng.randrange(n)
        if kind == "added":
            row = list(row)
            states.append(row)
        row[at] = rng.randrange(max(c.n_states for c in network.components))
    elif kind == "initial":
        text = changed.header["automaton"]
        count = text.count("State: ")
        old = text.partition("Start: ")[2].partition("\n")[0]
        changed.header["automaton"] = text.replace(
            f"Start: {old}\n", f"Start: {rng.randrange(count)}\n"
        )
    return changed


def mutant_form(rng, network, parts):
    """The same certificate with one thing in its reduction changed."""
    changed = copy.deepcopy(parts)
    reduction = changed.header["reduction"]
    number = rng.randrange(len(changed.forms))
    told, (steps, image) = reduction["forms"][number], changed.forms[number]
    kinds = ["trimmed", "keeps", "initial", "label", "parts", "added", "missing"]
    if steps:
        kinds += ["removed"] * 3 + ["step"] * 3
    if image:
        kinds += ["image"] * 3
    kind = rng.choice(kinds)
    n_labels = len(told["labels"]) + 1
    if kind == "trimmed":
        reduction["trimmed"] = not reduction["trimmed"]
    elif kind == "keeps" and image:
        reduction["keeps"] = "words"
        changed.forms = [(own, None) for own, _ in changed.forms]
    elif kind == "initial":
        told["initial"] = rng.randrange(told["states"])
    elif kind == "label" and told["labels"]:
        gone = rng.randrange(n_labels - 1)
        told["labels"].pop(gone)  # the next one takes its place, the last is silent
        steps[:] = [[s, a - (a > gone), d] for s, a, d in steps]
    elif kind == "parts":
        told["parts"] = [rng.randrange(len(network.components) + number)]
    elif kind == "missing":
        changed.forms.pop(number)
        reduction["forms"].pop(number)
    elif kind == "removed":
        steps.pop(rng.randrange(len(steps)))
    elif kind == "added":
        states = [rng.randrange(told["states"]) for _ in range(2)]
        steps.append([states[0], rng.randrange(n_labels), states[1]])
    elif kind == "step":
        step, at = rng.choice(steps), rng.randrange(3)
        step[at] = rng.randrange(n_labels if at == 1 else told["states"])
    elif kind == "image":
        image[rng.randrange(len(image))] = rng.randrange(told["states"] + 1)
    return changed


def assert_refused_or_proof(network, parts, seed, number):
    rng = random.Random(seed)
    for _ in range(number):
        reduces = parts.header["reduction"] is not None and rng.random() < 0.7
        changed = (mutant_form if reduces else mutant)(rng, network, parts)
        result = result_of(network, changed)
        if result in ("verified", "conditional"):
            assert proves(network, changed), changed


@given(SYSTEMS, FORMULAS, DEADLOCKS, WAYS, SEEDS)
@settings(max_examples=examples(80))
def test_mutants(network, text, deadlock, way, seed):
    """One rank, one mark, one state more, less or another one."""
    parts = certificate_of(network, formula=text, deadlock=deadlock, **way)
    if parts is not None:
        assert_refused_or_proof(network, parts, seed, 8)


def reduced_certificate(network, **asked):
    """The parts of a certificate with a reduction; None if there is none."""
    with suppress(UnsupportedError):  # no small deterministic form
        return certificate_of(network, **asked)
    return None


@given(SMALL, FORMULAS, DEADLOCKS, REDUCTIONS, SEEDS)
@settings(max_examples=examples(60))
def test_mutants_of_reductions(network, text, deadlock, reduction, seed):
    """Also a form that lacks a step or has one more, or stands for others."""
    how = {"deadlock": deadlock, "reduce": reduction}
    parts = reduced_certificate(network, formula=text, **how)
    if parts is not None:
        assert_refused_or_proof(network, parts, seed, 8)


@given(SMALL, FORMULAS, DEADLOCKS, REDUCTIONS, SEEDS)
@settings(max_examples=examples(60))
def test_certificates_of_other_networks(network, text, deadlock, reduction, seed):
    """What is proved of a network with fewer transitions is proved of no other one."""
    assert_of_this_network(network, text, deadlock, reduction, seed)


@pytest.mark.slow
@given(SMALL, FORMULAS, DEADLOCKS, REDUCTIONS, SEEDS)
@settings(max_examples=examples(2000))
def test_reductions_by_the_thousand(network, text, deadlock, reduction, seed):
    """Both, more often."""
    assert_of_this_network(network, text, deadlock, reduction, seed)
    how = {"deadlock": deadlock, "reduce": reduction}
    parts = reduced_certificate(network, formula=text, **how)
    if parts is not None:
        assert_refused_or_proof(network, parts, seed, 10)


def assert_of_this_network(network, text, deadlock, reduction, seed):
    """A certificate of a network without some transitions says nothing of it else."""
    rng = random.Random(seed)
    smaller = Network([without_some(rng, lts) for lts in network.components])
    asked = {"formula": text, "deadlock": deadlock}
    parts = reduced_certificate(smaller, reduce=reduction, **asked)
    result = "refused" if parts is None else result_of(network, parts)
    if result in ("verified", "conditional"):
        assert ask(network, **asked).verdict == "holds"


def without_some(rng, lts):
    """A component with the same alphabet and at most a few transitions less."""
    kept = np.ones(lts.n_transitions, dtype=np.bool_)
    for _ in range(rng.randrange(3)):
        if len(kept):
            kept[rng.randrange(len(kept))] = False
    columns = {name: getattr(lts, name)[kept] for name in ("src", "label", "dst")}
    return replace(lts, **columns)


@given(SYSTEMS, hoa_automata("emerson-lei"), DEADLOCKS, SEEDS)
@settings(max_examples=examples(50))
def test_mutants_with_any_condition(network, text, deadlock, seed):
    """Clauses with Fin, and several of them."""
    (violations,) = parse_automata(text, "random.hoa")
    parts = certificate_of(network, automaton=violations, deadlock=deadlock)
    if parts is not None:
        assert_refused_or_proof(network, parts, seed, 8)


@pytest.mark.slow
@given(SYSTEMS, hoa_automata("emerson-lei"), FORMULAS, DEADLOCKS, SEEDS)
@settings(max_examples=examples(1000))
def test_mutants_by_the_thousand(network, text, formula, deadlock, seed):
    """The same, more often."""
    (violations,) = parse_automata(text, "random.hoa")
    for asked in ({"automaton": violations}, {"formula": formula}):
        parts = certificate_of(network, deadlock=deadlock, **asked)
        if parts is not None:
            assert_refused_or_proof(network, parts, seed, 10)


ONE_WAY = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 1)])])
"""a, and then b for ever: GF a is violated, FG b holds."""


@given(SYSTEMS, hoa_automata("emerson-lei"), DEADLOCKS, SEEDS)
@settings(max_examples=examples(100))
def test_violations_have_no_certificate(network, text, deadlock, seed):
    """Whatever the ranks and what they lack: the states alone are no proof."""
    (violations,) = parse_automata(text, "random.hoa")
    asked = {"automaton": violations, "deadlock": deadlock}
    if ask(network, **asked).verdict != "violated":
        return
    parts = certificate_of(ONE_WAY, formula="F b")
    rng = random.Random(seed)
    header = parts.header
    header["asked"], header["formula"] = "automaton", None
    header["deadlock"] = deadlock
    names = set(network.action_index) & {p.ap_name() for p in violations.ap()}
    header["automaton"], n_marks = spelled(violations, sorted(names))
    n_marks += network.has_acceptance
    header["columns"] = [f"component {k + 1}" for k in range(len(network.components))]
    header["columns"] += ["automaton", "rank 1", "rank 2"]
    rows = product_states(network, parts)
    for _ in range(5):
        header["clauses"] = [random_clause(rng, n_marks) for _ in range(2)]
        parts.states = [[*row, rng.randrange(3), rng.randrange(3)] for row in rows]
        assert not proves(network, parts)
        assert result_of(network, parts) not in ("verified", "conditional")


def random_clause(rng, n_marks):
    """A clause over some marks; some are the whole condition, or a part of it."""
    fin = [m for m in range(n_marks) if rng.random() < 0.3]
    inf = [m for m in range(n_marks) if m not in fin and rng.random() < 0.5]
    lacks = [m for m in inf if rng.random() < 0.8]
    return {"fin": fin, "inf": inf, "lacks": rng.sample(lacks, len(lacks))}


def spelled(automaton, names):
    """An automaton as certificates have it, over some of its propositions."""
    from ltlpipe.automata.translation import table_over_actions
    from ltlpipe.certificates.writing import hoa_of

    table = table_over_actions(automaton, "tela", names)
    return hoa_of(table, names, over_states=False), table.n_marks
