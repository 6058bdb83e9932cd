"""Verification of a store: each stored lasso is replayed.

A row is looked at three times.  Its checksum says whether it is as it was written, its
key whether it belongs to the task that it is listed with.  A violation has a lasso: its
system is loaded again, if its files are what they were, and the lasso is taken through
it by the independent replay (`ltlpipe.verdict.recorded`).  And a question that was
answered several times, by other searches or reductions, has to have one answer.

What holds has no such evidence here: it is taken on trust, unless a lasso refutes it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.stored_rows import StoredRow, results_in
from ltlpipe.batch.table import CATEGORY, VERDICTS, actions_in, to_frame
from ltlpipe.batch.tasks import DECLARED, Digests, key_of, settings_of
from ltlpipe.logic.formulas import parse
from ltlpipe.question.given_options import QUESTION_OPTIONS, manner_told
from ltlpipe.question.options import OPTIONS
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import NUMBER, PATH, expect
from ltlpipe.runtime.errors import LtlpipeError, ReplayError, UnsupportedError
from ltlpipe.runtime.jobs import INTERRUPTED, Limits, StoppedError, run
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.verdict.checking import automaton_job
from ltlpipe.verdict.recorded import (
    Record,
    UndecidedError,
    confirmed,
    recorded,
    run_options,
)
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.systems.models import System
    from ltlpipe.verdict.lasso import Lasso

CONFIRMED = "confirmed"  # a violation: its lasso is one
REFUTED = "refuted"  # its lasso is none; or it holds, and a lasso says otherwise
CONTRADICTED = "contradicted"  # the same question has another answer, too
DAMAGED = "damaged"  # the row is not what was written
UNCHECKED = "not-checked"  # a violation, and why its lasso was not replayed
ON_TRUST = "on-trust"  # holds, or unknown: nothing to replay

FINDINGS = (CONFIRMED, REFUTED, CONTRADICTED, DAMAGED, UNCHECKED, ON_TRUST)
"""What can be found of a row."""

WRONG = (REFUTED, CONTRADICTED, DAMAGED)
"""Findings that say that the store is wrong."""

SECONDS = 60.0
"""For each lasso, by default; reading a system takes as long."""

VERIFIED_DTYPES = {
    "system": CATEGORY,
    "formula_id": "string",
    "formula": "string",
    "configuration": CATEGORY,
    "verdict": CATEGORY,
    "finding": CATEGORY,
    "why": "string",
    "task": "string",
}
"""The columns of `verify` and their types."""

Finding = dict[str, Any]
"""A row of the table of `verify`."""


def verify(
    path: StrPath,
    *,
    system_root: StrPath | None = None,
    timeout: float | None = SECONDS,
) -> pd.DataFrame:
    """Check the results in a store, and replay each lasso.

    Parameters
    ----------
    path : path
        A store that ``solve --store`` has made; it is not changed.
    system_root : path, optional
        The folder below which the files of the systems are now, if they are no longer
        where they were.  Only files of the same contents are taken.
    timeout : float, optional
        Seconds for each lasso, and for reading its system; None is no limit.

    Returns
    -------
    DataFrame
        A row for each task: `system`, `formula_id`, `formula`, `configuration`,
        `verdict`, `task`, its key, and `finding`: "confirmed" (a violation whose lasso
        is one), "refuted" (its lasso is none; or it holds, and a confirmed lasso says
        otherwise), "contradicted" (the same question has another answer), "damaged"
        (the row is not what was written), "not-checked" (a violation) or "on-trust"
        (holds, or unknown); `why` says more.

    Raises
    ------
    LtlpipeError
        There is no such store; or it is damaged as a whole, or one of a newer ltlpipe.
    """
    expect(PATH, path=path)
    expect(PATH.or_none, system_root=system_root)
    expect(NUMBER.or_none, timeout=timeout)
    return to_frame(findings(path, system_root, timeout), VERIFIED_DTYPES)


class _Result(NamedTuple):
    """A task with its result."""

    task: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def versions(self) -> tuple[str, str]:
        return str(self.result["ltlpipe_version"]), str(self.result["spot_version"])


def findings(
    path: StrPath,
    system_root: StrPath | None,
    timeout: float | None,
    observer: Callable[[Progress], None] | bool | None = None,
    begin: Callable[[str], None] = lambda _: None,
) -> list[Finding]:
    """Return what is found of each row of a store, in the order of tasks.

    `observer` sees each replay; `begin` announces the next one.
    """
    inputs, limits = _Inputs(system_root), Limits(timeout, default_memory_mib())
    pairs, faulty = results_in(path)
    found = [_damaged(row) for row in faulty]
    seen: dict[str, tuple[str, str | None]] = {}  # by key
    answers: dict[str, list[Finding]] = defaultdict(list)  # by question
    for pair in map(_Result._make, pairs):
        key = pair.task["key"]
        begin(f"{pair.task['system']}: {pair.task['formula_id']}")
        if key not in seen:
            seen[key] = _looked_at(pair, inputs, limits, observer)
        row = _finding(pair, *seen[key])
        found.append(row)
        if row["finding"] != DAMAGED:
            answers[question_in(pair.task["identity"])].append(row)
    for rows in answers.values():
        _compare(rows)
    return found


def _looked_at(
    pair: _Result, inputs: _Inputs, limits: Limits, observer: Any
) -> tuple[str, str | None]:
    """Return what is found of a result, and why."""
    if (why := _stranger(pair)) is not None:
        return DAMAGED, why
    if pair.result["verdict"] != VIOLATED:
        return ON_TRUST, None
    if pair.result["lasso_prefix"] is None:
        return UNCHECKED, "it has no lasso"
    try:
        run(_replay(pair, inputs), limits, observer=observer)
    except StoppedError as stopped:
        if stopped.reason == INTERRUPTED:
            raise KeyboardInterrupt from None
        return UNCHECKED, stopped.reason
    except ReplayError as error:
        return REFUTED, str(error)
    except (UndecidedError, LtlpipeError) as error:
        return UNCHECKED, str(error)
    return CONFIRMED, None


def _replay(pair: _Result, inputs: _Inputs) -> Job[Lasso]:
    given, files = json.loads(pair.task["options"]), inputs.of(pair)
    system = yield from inputs.system(files["system"], manner_told(given))
    try:
        told = recorded_lasso(pair.result)
    except LtlpipeError as error:
        raise ReplayError(str(error)) from None
    automata = {
        name: files[name][0] for name in ("automaton", "constraint") if name in files
    }
    formula = None if "automaton" in automata else pair.task["formula"]
    declared = json.loads(pair.task["identity"])[-1].get(DECLARED)
    return (yield from replayed(system, formula, told, given | automata, declared))


def replayed(
    system: System,
    formula: str | None,
    told: Record,
    given: Mapping[str, Any],
    alphabet: Sequence[str] | None = None,
) -> Job[Lasso]:
    """Replay a lasso as `confirmed` does; options name the files of automata.

    The alphabet is what the file of the formula declares.
    """
    options = run_options(given)
    for name in ("automaton", "constraint"):
        if not isinstance(given.get(name), str | None):
            raise UnsupportedError(f"--{name}={given[name]!r}: expected a file's name")
    violations = yield from automaton_job(given.get("automaton"))
    constraint = yield from automaton_job(given.get("constraint"))
    asked = Property(violations=violations)
    if formula is not None:
        parsed = parse(formula, **options.dialect._asdict())
        known = None if alphabet is None else tuple(alphabet)
        asked = Property(replace(parsed, alphabet=known))
    return (yield from confirmed(system, asked, told, options, constraint))


def recorded_lasso(row: Mapping[str, Any]) -> Record:
    """Return the lasso, or the finite run, of a row of the result table.

    Raises
    ------
    LtlpipeError
        A cell holds something else.
    """
    prefix, cycle = (
        tuple(actions_in(row[column] or "[]"))
        for column in ("lasso_prefix", "lasso_cycle")
    )
    return recorded(prefix, cycle, row.get("finite_run"))


class _Inputs:
    """Finds the files of tasks, which have to hold what they held."""

    def __init__(self, root: StrPath | None) -> None:
        self._root = None if root is None else Path(root)
        self._digests = Digests()
        self._loaded: tuple[Any, System] | None = None  # the last one

    def of(self, pair: _Result) -> dict[str, tuple[str, ...]]:
        """Return the files of a task: its system, its automata.

        Raises
        ------
        LtlpipeError
            One of them is not there any more, or holds something else.
        """
        task = pair.task
        (*systems,), (kind, asked), options = json.loads(task["identity"])
        wanted = {"system": systems}
        if kind == "automaton":
            wanted["automaton"] = [asked.partition(" ")[0]]
        if options.get("constraint") is not None:
            wanted["constraint"] = [options["constraint"]]
        places = json.loads(task["inputs"] or "{}")
        found = {}
        for name, digests in wanted.items():
            files = places.get(name)
            if files is None:
                raise LtlpipeError(f"its {name} is in no file")
            listed = [files] if isinstance(files, str) else files
            found[name] = tuple(
                self._file(file, digest, options if name == "system" else {})
                for file, digest in zip(listed, digests, strict=True)
            )
        return found

    def _file(self, file: str, digest: str, options: Mapping[str, Any]) -> str:
        """Return where a file is that has a digest, read as options say."""
        there = list(self._places(file))
        for place in there:
            if self._digests.system((place,), options) == (digest,):
                return place
        why = "holds something else now" if there else "is not there"
        raise LtlpipeError(f"{file} {why}")

    def _places(self, file: str) -> Iterator[str]:
        """Yield the regular files that may hold a file now: others may never end."""
        if self._root is None:
            candidates = [Path(file)]
        else:
            parts = PurePath(file).parts[1:]
            candidates = [self._root.joinpath(*parts[k:]) for k in range(len(parts))]
        yield from (str(place) for place in candidates if place.is_file())

    def system(self, files: tuple[str, ...], manner: dict[str, Any]) -> Job[System]:
        """Load a system, unless it is the one loaded last."""
        about = files, tuple(manner.items())
        if self._loaded is None or self._loaded[0] != about:
            loaded = yield from self._digests.loaded(files, **manner)
            if loaded is None:
                raise LtlpipeError(f"{files[0]} has changed in the meantime")
            self._loaded = about, loaded
        return self._loaded[1]


def question_in(identity: str) -> str:
    """Return the identity of a question, whatever the options of the search.

    What else is told makes another question: names of files, options of old stores.
    """
    system, question, options = json.loads(identity)
    of_search = {*OPTIONS, DECLARED}.difference(QUESTION_OPTIONS)
    meant = {name: value for name, value in options.items() if name not in of_search}
    return json.dumps([system, question, meant], sort_keys=True)


def _stranger(pair: _Result) -> str | None:
    """Return why a result cannot belong to the task that it is listed with."""
    try:
        _, (kind, asked), _ = json.loads(pair.task["identity"])
        if key_of(pair.task["identity"], pair.versions) != pair.task["key"]:
            return "its key is not that of the task"
    except (ValueError, TypeError):
        return "what its key is made of cannot be read"
    formula = (pair.task["formula"] or "").strip()
    if (
        kind == "formula"
        and asked.encode(errors="backslashreplace") != formula.encode()
    ):
        return "its key is not that of the formula"
    return None


def _compare(rows: Sequence[Finding]) -> None:
    """Note the answers to one question that contradict each other."""
    decided = {row["verdict"] for row in rows} - {UNKNOWN}
    if len(decided) < 2:
        return
    proved = any(row["finding"] == CONFIRMED for row in rows)
    for row in rows:
        if row["verdict"] == HOLDS and proved:
            row |= {"finding": REFUTED, "why": "a replayed lasso violates it"}
        elif row["finding"] in (ON_TRUST, UNCHECKED) and row["verdict"] != UNKNOWN:
            others = ", ".join(sorted(decided - {row["verdict"]}))
            row |= {"finding": CONTRADICTED, "why": f"another answer is {others}"}


def _finding(pair: _Result, finding: str, why: str | None) -> Finding:
    return {
        **{name: pair.task[name] for name in ("system", "formula_id", "formula")},
        "configuration": settings_of(json.loads(pair.task["options"]))["configuration"],
        "verdict": pair.result["verdict"],
        "finding": finding,
        "why": why,
        "task": pair.task["key"],
    }


def _damaged(row: StoredRow) -> Finding:
    names = ("system", "formula_id", "formula", "verdict", "key")
    texts = {n: row.said.get(n) for n in names}
    plain = {n: None if v is None else str(v) for n, v in texts.items()}
    if plain["verdict"] not in VERDICTS:
        plain["verdict"] = None
    task = plain.pop("key")
    known = {"configuration": None, "finding": DAMAGED, "why": row.objection}
    return plain | known | {"task": task}


def wrong(findings: Iterable[Finding]) -> bool:
    """Whether some finding means that the store is wrong."""
    return any(row["finding"] in WRONG for row in findings)
