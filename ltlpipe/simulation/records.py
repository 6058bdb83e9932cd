"""Lassos and runs as files hold them: what ``check --json`` and `save` write."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import means
from ltlpipe.question.given_options import dialect_in
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import name_of, read
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.plain_steps import Move
from ltlpipe.verdict.lasso import Lasso
from ltlpipe.verdict.recorded import GIVEN, Record, RecordedStep
from ltlpipe.verdict.verdict import Verdict

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.files import Source
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System

_SHOWN = 3  # formulas in a message


def given_lasso(
    given: Any, system: System, asked: Formula | None
) -> Job[Record | None]:
    """Return a lasso that is given in any of the ways that `Simulation` takes.

    Raises
    ------
    InputError, UnsupportedError
        There is none.
    """
    about: dict[str, Any] = {}
    if isinstance(given, Verdict):
        run = given.lasso or given.finite_run
        if run is None:
            raise UnsupportedError(f"--lasso: the verdict {given.verdict!r} has none")
        about = {"formula": given.formula, "alphabet": given.alphabet}
        about["dialect"] = dialect_in(given.configuration)
        given = run
    if given is None:
        return None
    if isinstance(given, Lasso):
        repeats = bool((given.actions < 0).any())
        # The states of a graph's steps do not say what holds there.
        if given.system is system and not isinstance(system, SpotGraph):
            first = len(given.prefix)
            return Record((), first, repeats=repeats, own=given, **about)
        steps = [
            RecordedStep(
                step.action,
                step.moves,
                given.valuation(k) if given.has_valuations else None,
            )
            for k, step in enumerate(given.steps)
        ]
        first, kind = len(given.prefix), getattr(given, "kind", None)
        return Record(tuple(steps), first, kind, repeats=repeats, **about)
    if isinstance(given, dict):
        record = record_of(given)
        if record is None:
            raise UnsupportedError("--lasso: the input contains no lasso")
        return record
    return chosen((yield from records_of(given)), asked)


def records_of(source: Source) -> Job[list[Record]]:
    """Return the lassos of a file of JSON objects, one per line.

    Those without a lasso are passed over.

    Raises
    ------
    InputError
        It cannot be read, holds something else, or no lasso at all.
    """
    file = name_of(source)
    text = yield from read(source)
    found = []
    for line, given in objects_in(text, file):
        record = record_of(given, file, line)
        if record is not None:
            found.append(record)
    if not found:
        message = "no lasso: expected what ltlpipe check --json prints of a violation"
        raise InputError(message, file=file)
    return found


def objects_in(text: str, file: str) -> list[tuple[int | None, Any]]:
    """Return the JSON values of a text with their lines; one may have several."""
    with suppress(ValueError, RecursionError):
        return [(None, json.loads(text))]
    found: list[tuple[int | None, Any]] = []
    lines = text.split("\n")  # other breaks may stand within a text of JSON
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            message = f"no JSON: {error}; expected what ltlpipe check --json prints"
            raise InputError(message, file=file, line=number) from None
    return found


def record_of(given: Any, file: str = GIVEN, line: int | None = None) -> Record | None:
    """Return the lasso of a JSON object, or the object itself if it is a lasso; None if
    it has none.

    Raises
    ------
    InputError
        It is no such object.
    """

    def refusal(what: str) -> InputError:
        message = f"{what}; expected what ltlpipe check --json prints"
        return InputError(message, file=file, line=line)

    if not isinstance(given, dict):
        raise refusal("no JSON object")
    formula, lasso = given.get("formula"), given.get("lasso", given)
    finite, kind = given.get("finite_run"), None
    if isinstance(finite, dict):
        lasso, kind = _as_lasso(finite), finite.get("kind")
    if lasso is None:
        return None
    if formula is not None and not isinstance(formula, str):
        raise refusal("'formula' is not a text")
    if lasso is given and "prefix" not in lasso:
        raise refusal("no key 'lasso'")
    if not isinstance(lasso, dict):
        raise refusal("'lasso' is not a JSON object")
    prefix, cycle = lasso.get("prefix"), lasso.get("cycle")
    if not isinstance(prefix, list) or not isinstance(cycle, list):
        raise refusal("'prefix' and 'cycle' of a lasso are lists")
    entries = [*prefix, *cycle]
    actions, before = _actions(lasso, entries), None
    if entries and all(isinstance(entry, dict) for entry in entries):
        before = entries
    elif not all(isinstance(entry, str) for entry in entries):
        raise refusal("'prefix' and 'cycle' of a lasso are actions, or valuations")
    moves = _moves(lasso.get("steps"))
    for part in (actions, moves):
        if part is not None and len(part) != len(entries):
            raise refusal("a lasso has as many steps as prefix and cycle together")
    nothing = [None] * len(entries)
    steps = zip(actions or nothing, moves or nothing, before or nothing, strict=True)
    told = tuple(RecordedStep(*step) for step in steps)
    dialect = dialect_in(str(given.get("configuration", "")))
    declared = given.get("alphabet")
    if declared is not None and not _are_texts(declared):
        raise refusal("'alphabet' is not a list of texts")
    alphabet = None if declared is None else tuple(declared)
    about: dict[str, Any] = {"dialect": dialect, "alphabet": alphabet}
    return Record(told, len(prefix), kind, formula, file, **about)


def _are_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _as_lasso(finite: dict[str, Any]) -> dict[str, Any]:
    """Return a finite run as `record_of` takes lassos: with an empty cycle."""
    steps, states = finite.get("steps"), finite.get("states")
    names = [
        step.get("action") if isinstance(step, dict) else None
        for step in (steps if isinstance(steps, list) else [None])
    ]
    known: dict[str, Any] = {"prefix": names, "cycle": [], "steps": steps}
    if isinstance(states, list):
        known |= {"prefix": states[:-1], "prefix_actions": names, "cycle_actions": []}
    return known


def _actions(lasso: dict[str, Any], entries: list[Any]) -> list[Any] | None:
    """Return the actions: those beside the valuations of a model, else the letters."""
    apart = [lasso.get("prefix_actions"), lasso.get("cycle_actions")]
    if all(isinstance(part, list) for part in apart):
        return [str(name) for part in apart for name in part]  # type: ignore[union-attr]
    return entries if all(isinstance(entry, str) for entry in entries) else None


def _moves(steps: Any) -> list[tuple[Move, ...] | None] | None:
    """Return the moves of each step, where they are recorded."""
    if not isinstance(steps, list):
        return None
    found: list[tuple[Move, ...] | None] = []
    for step in steps:
        moves = None
        with suppress(KeyError, TypeError):
            moves = tuple(Move(m["name"], m["from"], m["to"]) for m in step["moves"])
        found.append(moves)
    return found


def chosen(records: list[Record], formula: Formula | None) -> Record:
    """Return the lasso of a formula; the first one if any will do.

    The only lasso of a file can be combined with any formula.

    Raises
    ------
    InputError
        There are several, and none is that of the formula.
    """
    if formula is None:
        return records[0]
    for record in records:
        text = record.formula
        if text is not None and (
            text.strip() == formula.text or means(text, formula.spot)
        ):
            return record
    if len(records) == 1:
        return records[0]
    texts = [str(record.formula) for record in records]
    more = ", ..." if len(texts) > _SHOWN else ""
    raise InputError(
        f"no lasso for {formula.text}; there is one for "
        f"{', '.join(texts[:_SHOWN])}{more}",
        file=records[0].file,
    )
