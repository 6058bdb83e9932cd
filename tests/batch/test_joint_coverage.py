"""What bitstate searches in rows of a table have seen together."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ltlpipe import LtlpipeError, check, joint_coverage, results, save, solve
from ltlpipe.families.networks import philosophers
from ltlpipe.search.nested.coverage import (
    MOST_HASHES,
    Member,
    decoded,
    encoded,
    together,
)
from ltlpipe.systems.networks.lts import Network

HOLDS = "G(eat0 -> X !eat0)"
BITS = {"bitstate": 0.02, "reduce": "none"}
SEEDS = [1, 2, 3]


def network():
    parts = philosophers(7).components
    return Network([replace(part, accepting=None) for part in parts])


NETWORK = network()


def tasks(*formulas, seeds=SEEDS, **options):
    """Return a table with a task for each formula and seed."""
    return pd.DataFrame(
        {"system": NETWORK, "formula": formula, "seed": seed, **options}
        for formula in formulas
        for seed in seeds
    )


@pytest.fixture(scope="module")
def exact():
    return check(NETWORK, HOLDS, emptiness="se05", reduce="none").stats.states


def test_rows_of_one_product(exact, tmp_path):
    """In processes or not, from the table or from a store; states add up."""
    save(NETWORK, tmp_path / "system.hoa")
    store = tmp_path / "run.sqlite"
    table = tasks(HOLDS).assign(system=str(tmp_path / "system.hoa"))
    frame = solve(table, jobs=2, store=store, **BITS)
    one = solve(table, **BITS)

    joint = joint_coverage(frame)
    assert joint["searches"].tolist() == [3]
    assert max(frame["states"]) < joint["states"][0] <= 1.1 * exact
    assert joint["states"][0] == pytest.approx(exact, rel=0.1)
    assert max(frame["coverage"]) < joint["coverage"][0] <= 1
    assert joint_coverage(results(store)).equals(joint)
    assert joint_coverage(one).equals(joint)


def test_a_swarm_per_row():
    """The searches of all rows count; each row tells about its own as `check` does."""
    frame = solve(tasks(HOLDS, swarm=2), **BITS)
    assert joint_coverage(frame)["searches"].tolist() == [6]
    alone = check(NETWORK, HOLDS, swarm=2, seed=2, **BITS)
    assert frame["coverage"][1] == alone.stats.coverage


def test_other_products_are_apart():
    """Of other formulas or treatments of deadlocks, not of other sizes of the array."""
    frame = solve(
        pd.concat(
            [
                tasks(HOLDS, "G(eat1 -> X !eat1)", deadlock="ignore", bitstate=0.02),
                tasks(HOLDS, deadlock="stutter", bitstate=0.02),
                tasks(HOLDS, deadlock="stutter", bitstate=0.01),
            ]
        ),
        reduce="none",
    )
    assert joint_coverage(frame)["searches"].tolist() == [3, 3, 6]


def test_violated_questions_are_left_out():
    """So are rows of other searches, and single ones."""
    frame = solve(tasks("G !eat0"), **BITS)
    assert set(frame["verdict"]) == {"violated"}
    assert frame["sample"].isna().all()
    assert joint_coverage(frame).empty

    assert joint_coverage(solve(tasks(HOLDS))).empty
    assert joint_coverage(solve(tasks(HOLDS)[:1], **BITS)).empty


def member(hashes, states=1000, coverage=0.9):
    sample = np.array(hashes, dtype=np.uint64)
    return Member(states, 2 * states, coverage, 3.5, sample, most=2**60)


def test_texts_tell_what_was_seen():
    """Up to the largest hash that there is room for."""
    rng = np.random.default_rng(1)
    few, many = (rng.integers(1, 2**60, n, dtype=np.uint64) for n in (9, 5000))

    product, (small, large, unknown) = decoded(
        encoded("p", [member(few), member(many), member(few, coverage=None)])
    )
    assert product == "p"
    assert small.sample.tolist() == few.tolist()
    assert (small.most, small.states, small.coverage) == (2**60, 1000, 0.9)
    assert unknown.coverage is None
    assert large.sample.tolist() == sorted(many.tolist())[:MOST_HASHES]
    assert large.most == large.sample[-1]


def test_reduced_samples_say_the_same_about():
    """The estimate from 512 hashes is near that from all."""
    rng = np.random.default_rng(2)
    known = rng.integers(1, 2**60, 8000, dtype=np.uint64)
    members = [
        member(known[rng.random(8000) < share], round(1000 * share), share)
        for share in (0.5, 0.6, 0.7)
    ]
    _, told = decoded(encoded("p", members))
    whole, reduced = together(members), together(told)
    assert reduced.states == pytest.approx(whole.states, rel=0.08)
    assert reduced.coverage == pytest.approx(whole.coverage, abs=0.08)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"product": "p", "searches": [1]}', "[" * 10_000),
        '{"product": "p", "searches": [[1, 2, 0.5, 0, 9, "?"]]}',
        '{"product": "p", "searches": [[1, 2, 0.5, 0, 9, "AAAA"]]}',
        '{"product": "p", "searches": [[1, 2, "x", 0, 9, ""]]}',
    ],
)
def test_damaged_samples(text):
    frame = solve(tasks(HOLDS)[:1])
    with pytest.raises(LtlpipeError, match=r"sample .*: expected what a bitstate"):
        joint_coverage(frame.assign(sample=text))


def test_a_missing_column():
    frame = solve(tasks(HOLDS)[:1])
    with pytest.raises(LtlpipeError, match="expected a column 'sample'"):
        joint_coverage(frame.drop(columns="sample"))


@pytest.mark.thorough("a search of each product, several times")
def test_estimates_of_all_seeds(exact):
    """The joint estimate is about right whatever the seeds are."""
    for first in range(0, 40, 4):
        frame = solve(tasks(HOLDS, seeds=range(first, first + 4)), **BITS)
        assert all(json.loads(text)["product"] for text in frame["sample"])
        (joint,) = joint_coverage(frame).to_dict("records")
        assert joint["states"] / joint["coverage"] == pytest.approx(exact, rel=0.05)
