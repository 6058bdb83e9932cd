"""The folder in which the processes of a run share what they have reduced."""

from __future__ import annotations

import tempfile

import pytest

from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.tasks import Task
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.runtime.folders import PREFIX
from ltlpipe.verdict.checking import check


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where folders of runs are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def tasks(seed=3, n=8):
    """Of a network that no worker has met, if the seed is another one."""
    network = rers_network(n, style="random-dense", seed=seed).network
    names = [action.name for action in network.actions][:5]
    one, other, third, fourth, fifth = names
    texts = [f"G({one} -> F {other})", f"GF {third}", f"F {fourth}", f"G !{fifth}"]
    return network, [Task(network, text) for text in texts]


def shared(folder):
    """The results in the folders of runs."""
    return list(folder.glob(f"{PREFIX}*/*.result"))


@pytest.mark.thorough("starts, watches or kills other processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_shares_and_leaves_nothing(jobs, temporary):
    """There are results while it goes on; verdicts are those without."""
    network, asked = tasks(seed=jobs, n=14)
    options = {"reduce": "alphabet,components", "timeout": 60}
    rows = solve_rows(asked, jobs=jobs, **options)
    verdicts = {}
    for row in rows:
        verdicts[row["task"]] = row["verdict"]
        if len(verdicts) == 2:
            assert shared(temporary)
    assert not list(temporary.glob(f"{PREFIX}*"))
    for number, task in enumerate(asked):
        alone = check(network, task.formula, share=0, **options)
        assert verdicts[number] == alone.verdict


def test_a_run_that_is_ended_leaves_nothing(temporary):
    """As after Ctrl-C."""
    rows = solve_rows(tasks()[1], jobs=1, reduce="alphabet,factoring,components")
    next(rows)
    assert list(temporary.glob(f"{PREFIX}*"))
    rows.close()
    assert not list(temporary.glob(f"{PREFIX}*"))


def test_nothing_is_shared_unless_it_may_be(temporary):
    """With ``share=0`` there is no folder."""
    rows = solve_rows(tasks()[1], jobs=1, share=0)
    next(rows)
    assert not list(temporary.glob(f"{PREFIX}*"))
    rows.close()
