"""Stores and tables for reports, made by hand: nothing is solved."""

from __future__ import annotations

import json

from benchmarks.report import formula, results
from ltlpipe.batch.solving import listed
from ltlpipe.batch.store import Store
from ltlpipe.batch.table import host_columns, to_frame
from ltlpipe.batch.tasks import Digests, Task

EVIL = [
    "</script><img src=x onerror=window.hacked=1>",
    "<b>&amp;\"'`</b>",
    "]]>--><!--<svg onload=window.hacked=1>",
    "{{ 7 * 7 }}{% raw %}${window.hacked=1}",
    "javascript:window.hacked=1",
    "\u2028\u202e\\u003cimg\x0b",
    "'; DROP TABLE results; --",
]
"""Names that would be code if somebody forgot to escape them."""

SYSTEM = """digraph g {
  subgraph cluster_0 { label="left"; s0 -> a0 [label=""]; a0 -> a1 [label="ask"];
    a1 -> a0 [label="meet"]; }
  subgraph cluster_1 { label="right"; s1 -> b0 [label=""]; b0 -> b0 [label="meet"]; }
  subgraph cluster_2 { label="idle"; s2 -> c0 [label=""]; c0 -> c0 [label="rest"]; }
}
"""


def result(verdict="holds", prefix=None, cycle=None, **columns):
    """A row as a worker returns it."""
    lasso = {}
    if cycle is not None:
        lasso = {"lasso_prefix": json.dumps(prefix), "lasso_cycle": json.dumps(cycle)}
    plain = {
        "verdict": verdict,
        "automaton": "BA",
        "acceptance": "Inf(0)",
        "automaton_states": 3,
        "emptiness": "se05",
        "reductions": "none",
        "states": 12345,
        "transitions": 67890,
        "max_depth": 12,
        "seconds": 0.25,
        "memory_mib": 1.5,
        "started_at": "2026-01-02T03:04:05.678901+00:00",
    }
    return plain | host_columns() | lasso | columns


def make_store(path, tasks, **store):
    """Write a store with these tasks and their results, pairs of Task and row."""
    with Store(path, **store) as kept:
        digests = Digests()
        told = [
            listed(task, task.options, digests.identity(task, task.options))
            for task, _ in tasks
        ]
        kept.list_tasks(told)
        for about, (_, row) in zip(told, tasks, strict=True):
            own = {n: about[n] for n in ("system", "formula_id", "formula")}
            kept.record(about["key"], own | row)
    return path


def some_tasks(system):
    """Tasks on one system: each verdict, a lasso, two configurations that disagree."""
    file = (str(system),)
    other = {"emptiness": "couvreur99", "timeout": 60.0}
    return [
        (Task(file, "G(ask -> F meet)"), result(seconds=0.125)),
        (
            Task(file, "F rest"),
            result("violated", ["ask", "meet"], ["ask", "meet"], states=7),
        ),
        (Task(file, "G rest"), result("unknown", reason="timeout", states=10**6)),
        (Task(file, "F rest", options=other), result("holds", emptiness="couvreur99")),
        (
            Task(file, "G("),
            result("unknown", reason="input-error", message="syntax error"),
        ),
    ]


def big_frame(n_rows):
    """A table of `n_rows` as of a long run: long formulas, long lassos."""
    rows = []
    for k, row in enumerate(results(n_rows)):
        row["system"] = f"problems/{k % 500:03}/system.dot"
        row["formula"] = formula(k // 2)
        row["formula_id"] = f"formulas.ltl:{k // 2}"
        rows.append(row)
    return to_frame(rows)
