"""Rows of a store that are damaged, changed or old: none is believed for another."""

from __future__ import annotations

import random
import sqlite3
import warnings
from contextlib import closing

import pytest

from ltlpipe import LtlpipeError, LtlpipeWarning, results, solve
from ltlpipe.batch import stored_rows
from ltlpipe.batch.solving import solve_rows
from ltlpipe.batch.store import Store, status
from ltlpipe.batch.tasks import Task
from tests.batch.faults import RING
from tests.report.handmade_stores import make_store, result

FORMULAS = ["F a", "G a", "G(a -> F b)", "X b", "G F c"]


@pytest.fixture
def path(tmp_path):
    """A store with a result for each formula: two violated, one unknown."""
    rows = [
        result(),
        result("violated", [], ["a", "b"], states=7),
        result(),
        result("unknown", reason="timeout", message="é"),
        result("violated", ["a"], ["b", "a"]),
    ]
    tasks = [Task(RING, formula) for formula in FORMULAS]
    return make_store(tmp_path / "run.sqlite", list(zip(tasks, rows, strict=True)))


def changed(path, *statements, checks=False):
    """Do as somebody with the program sqlite3 would."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA ignore_check_constraints = {not checks}")
        for statement in statements:
            db.execute(statement)
        db.commit()


def known(path):
    """The results, by formula, as texts."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        frame = results(path)
    rows = frame.astype("string").fillna("").to_dict("records")
    return {row["formula"]: row for row in rows}


CHANGES = [
    "UPDATE results SET verdict = 'hold{' WHERE formula = 'G a'",
    "UPDATE results SET verdict = 'holds' WHERE formula = 'G a'",
    (
        "UPDATE results SET verdict = 'holds', lasso_prefix = NULL, lasso_cycle = NULL "
        "WHERE formula = 'G a'"
    ),
    "UPDATE results SET reason = 'magic' WHERE formula = 'G a'",
    "UPDATE results SET states = 8 WHERE formula = 'G a'",
    "UPDATE results SET states = 'many' WHERE formula = 'G a'",
    "UPDATE results SET seconds = -1 WHERE formula = 'G a'",
    "UPDATE results SET lasso_cycle = '[\"b\"]' WHERE formula = 'G a'",
    "UPDATE results SET started_at = 'yesterday' WHERE formula = 'G a'",
    "UPDATE results SET emptiness = CAST(x'fffe' AS TEXT) WHERE formula = 'G a'",
    "UPDATE results SET system = x'fffe' WHERE formula = 'G a'",
    "UPDATE results SET attempts = 9 WHERE formula = 'G a'",
    "UPDATE results SET checksum = NULL WHERE formula = 'G a'",
    "UPDATE results SET checksum = 'cafe' WHERE formula = 'G a'",
    "UPDATE tasks SET formula = 'F b' WHERE formula = 'G a'",
    "UPDATE tasks SET options = '{' WHERE formula = 'G a'",
    "UPDATE tasks SET place = 'nowhere' WHERE formula = 'G a'",
    "UPDATE tasks SET expected = 'violated' WHERE formula = 'G a'",
    "UPDATE tasks SET system = CAST(x'ff' AS TEXT) WHERE formula = 'G a'",
    # The result of another task, whole, with its checksum.
    (
        "UPDATE tasks SET key = (SELECT key FROM results WHERE formula = 'F a') "
        "WHERE formula = 'G a'"
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_was_changed(path, change):
    """It is left out, and said; the others stay."""
    before = known(path)
    statements = [change]
    if change.endswith("checksum = NULL WHERE formula = 'G a'"):  # NOT NULL, too
        statements = [
            "CREATE TABLE other AS SELECT * FROM results",
            "DROP TABLE results",
            "ALTER TABLE other RENAME TO results",
            change,
        ]
    changed(path, *statements)

    with pytest.warns(LtlpipeWarning, match="1 rows left out: .*: "):
        results(path)

    del before["G a"]
    assert known(path) == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE results SET verdict = 'hold{'",
        "UPDATE results SET verdict = 'holds' WHERE formula = 'G a'",
        "UPDATE results SET reason = 'magic' WHERE formula = 'X b'",
        "UPDATE results SET states = -1",
        "UPDATE results SET checksum = ''",
        "UPDATE results SET seconds = 'long'",
        "UPDATE tasks SET expected = 'maybe'",
    ],
)
def test_constraints(path, change):
    """SQLite itself refuses what no row can say."""
    with pytest.raises(sqlite3.IntegrityError):
        changed(path, change, checks=True)


def test_a_row_set_aside_is_solved_anew(path):
    """With a message; it can be looked at, and no verdict of another is lost."""
    changed(path, "UPDATE results SET verdict = 'hold{' WHERE formula = 'G a'")
    tasks = [Task(RING, formula) for formula in FORMULAS[:4]]

    with pytest.warns(
        LtlpipeWarning, match=r"1 results set aside.*verdict is 'hold\{'"
    ):
        rows = {row["task"]: row for row in solve_rows(tasks, store=path)}

    assert rows[1]["verdict"] == "violated"
    assert rows[1]["states"] == 4  # what is so, and not what the row said
    assert rows[0]["states"] == 12345  # of the others, nothing
    with closing(sqlite3.connect(path)) as db:
        ((origin, why, said),) = db.execute("SELECT origin, why, said FROM set_aside")
    assert (origin, '"verdict": "hold{"' in said) == ("results", True)
    assert "expected one of holds, violated, unknown" in why
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdicts = results(path).set_index("formula")["verdict"]
    assert (verdicts["F a"], verdicts["G a"], len(verdicts)) == ("holds", "violated", 5)


def test_a_row_that_changes_under_way(path):
    """A claim looks, too: so does a result that comes for the same task."""
    with Store(path) as store:
        (key,) = store._db.execute(
            "SELECT key FROM results WHERE formula = 'G a'"
        ).fetchone()
        changed(path, "UPDATE results SET verdict = 'holds' WHERE formula = 'G a'")
        with pytest.warns(LtlpipeWarning, match="'holds' with a lasso"):
            assert store.claim(key) is True
        changed(path, "UPDATE results SET states = 1 WHERE formula = 'F a'")
        (other,) = store._db.execute(
            "SELECT key FROM results WHERE formula = 'F a'"
        ).fetchone()
        with pytest.warns(LtlpipeWarning, match="the checksum does not match"):
            store.record(other, result(states=3))
        assert store.claim(other)["states"] == 3


def test_the_header_does_not_take_the_checksums_away(path):
    """A store that says that it is older has them all the same."""
    changed(path, "UPDATE results SET states = 1", "PRAGMA user_version = 3")
    assert known(path) == {}
    assert status(path).outcomes == {}


def test_status_counts_what_is_believed(path):
    changed(path, "UPDATE results SET verdict = 'holds' WHERE formula = 'X b'")
    assert status(path).outcomes == {("holds", None): 2, ("violated", None): 2}


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("seed", range(4))
def test_any_byte(path, seed):
    """Whatever byte of the file is another: no row says anything that was not said.

    Either the file is refused, or each result is as it was, or left out.
    """
    check_bytes(path, random.Random(seed), 60)


@pytest.mark.slow
def test_any_of_thousands_of_bytes(path):
    check_bytes(path, random.Random(99), 6000)


def check_bytes(path, chance, times):
    before = known(path)
    data = path.read_bytes()
    used = [place for place, byte in enumerate(data) if byte]
    lost = 0
    for _ in range(times):
        damaged = bytearray(data)
        damaged[chance.choice(used)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            found = known(path)
        except LtlpipeError:
            continue
        for formula, row in found.items():
            # Which run lists a task is said by the table, and by no result.
            assert row == before.get(formula), formula
        lost += len(found) < len(before)
    assert lost > times // 10


# --- stores of earlier versions ---------------------------------------------


@pytest.mark.parametrize("schema", [0, 1, 2])
def test_a_schema_without_checksums(path, schema):
    """No release has written such a store: it is refused, and left as it is."""
    changed(path, f"PRAGMA user_version = {schema}")
    before = path.read_bytes()
    for use in (results, status, Store):
        with pytest.raises(LtlpipeError, match=f"before 0.2 .schema {schema}"):
            use(path)
    assert path.read_bytes() == before


def test_schema_3(path):
    """Its rows have checksums: what was changed is set aside, the rest is kept."""
    changed(
        path,
        "ALTER TABLE results DROP COLUMN coverage",
        "ALTER TABLE results DROP COLUMN sample",
        "UPDATE results SET states = 1 WHERE formula = 'G a'",
        "PRAGMA user_version = 3",
    )
    assert set(known(path)) == {*FORMULAS} - {"G a"}

    with pytest.warns(LtlpipeWarning, match=r"1 results set aside.*does not match"):
        frame = solve([(RING, formula) for formula in FORMULAS], store=path)

    assert frame["states"].tolist().count(12345) == len(FORMULAS) - 1
    assert frame["coverage"].isna().all()
    assert set(known(path)) == {*FORMULAS}


def test_schema_5(path):
    """Its `acceptance` was the condition: it is that today, and the class beside it."""
    with closing(sqlite3.connect(path)) as db:
        rows = [row.said for row in stored_rows.stored_rows(db, "results")]
    for row in rows:
        old = {**row, "automaton": "BA", "acceptance": "Inf(0)", "condition": None}
        with closing(sqlite3.connect(path)) as db:
            db.execute(
                "UPDATE results SET automaton = 'BA', acceptance = 'Inf(0)', "
                "checksum = ? WHERE key = ?",
                [stored_rows.checksum(old), row["key"]],
            )
            db.commit()
    columns = "condition", "translator", "deadlock"
    drops = [f"ALTER TABLE results DROP COLUMN {name}" for name in columns]
    changed(path, *drops, "PRAGMA user_version = 5")
    read = known(path)
    assert len(read) == len(FORMULAS)
    solve([(RING, formula) for formula in FORMULAS], store=path)
    for rows in (read, known(path)):
        assert {(r["acceptance"], r["condition"]) for r in rows.values()} == {
            ("ba", "Inf(0)")
        }


def test_an_older_run_goes_on(path):
    """It could not write to the new tables: they are not made under it."""
    changed(
        path,
        "UPDATE runs SET ended_at = NULL, place = '', alive_at = strftime('%s', 'now')",
        "PRAGMA user_version = 3",
    )
    before = known(path)
    with pytest.raises(LtlpipeError, match="run 1, of an earlier ltlpipe, has not"):
        Store(path)
    assert known(path) == before
