"""Tables say which code they measure, and are told when that has changed."""

import pytest

from benchmarks import measured_code, record
from benchmarks.measured_code import MEASURED, code_of, is_current


@pytest.fixture
def package(tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "store.py").write_text("def size():\n    return 1\n")
    (tmp_path / "report.py").write_text("WIDTH = 3\n")
    return tmp_path


@pytest.fixture
def code(package, monkeypatch):
    """What makes the hash of a table that measures one room, after a change."""
    monkeypatch.setattr(measured_code, "MEASURED", {"speed": ("search",)})

    def made(place=None, text=None, table="speed"):
        measured_code._code.cache_clear()
        measured_code._code_of.cache_clear()
        if place is not None:
            (package / place).write_text(text)
        return code_of(table, package)

    return made


def test_a_change_of_what_is_measured(code):
    before = code()
    assert code("search/store.py", "def size():\n    return 2\n") != before


def test_what_changes_nothing(code):
    before = code()
    text = '"""Module."""\n\n\ndef size():\n    """Document."""\n    return 1  # why\n'
    assert code("search/store.py", text) == before
    assert code("report.py", "WIDTH = 4\n") == before


def test_systems_that_a_table_has_none_of(code, package, monkeypatch):
    (package / "search" / "nets").mkdir()
    (package / "search" / "nets" / "net.py").write_text("PLACES = 1\n")
    all_of_it = code()
    monkeypatch.setattr(measured_code, "UNREAD", {"speed": ("search/nets",)})
    before = code()
    assert before != all_of_it
    assert code("search/nets/net.py", "PLACES = 2\n") == before
    assert code("search/store.py", "def size():\n    return 2\n") != before
    monkeypatch.setattr(measured_code, "UNREAD", {"speed": ("search/gone",)})
    with pytest.raises(FileNotFoundError, match="gone"):
        code()


def test_other_tables_measure_all_of_the_package(code):
    before = code(table="another")
    assert code("report.py", "WIDTH = 4\n", table="another") != before


def test_what_is_measured_is_there():
    """A room that moves takes its tables along."""
    assert all(len(code_of(table)) == 12 for table in [*MEASURED, "another"])
    written = {path.stem for path in record.RESULTS.glob("*.csv")}
    assert set(MEASURED) <= written | {"patterns"}


def test_a_table_is_current_until_a_row_is_older(tmp_path, capsys, monkeypatch):
    path = tmp_path / "emptiness.csv"
    record.append(path, {"seconds": 1})
    record.append(path, {"seconds": 2, "states": 3})
    assert is_current(path)
    monkeypatch.setattr(measured_code, "RESULTS", tmp_path)
    measured_code.main()
    assert capsys.readouterr().out == ""

    rows = record.resume(path)
    assert [row["states"] for row in rows] == ["", "3"]
    path.write_text(path.read_text().replace(code_of("emptiness"), "", 1))
    assert not is_current(path)
    measured_code.main()
    assert "1 of 1 tables in results/" in capsys.readouterr().out


def test_a_summary_is_as_old_as_its_rows(tmp_path):
    """Its provenance is that of what it sums up, not of the day it was made."""
    rows = [
        {"seconds": 1, "date": "2026-01-02", "ltlpipe": "0.1.0", "code": "abc"},
        {"seconds": 2, "date": "2026-01-01", "ltlpipe": "0.1.0", "code": None},
    ]
    path = tmp_path / "lassos_summary.csv"
    record.write(path, [{"median": 1.5}], of=rows)

    (row,) = record.resume(path)
    assert row["date"] == "2026-01-01; 2026-01-02"
    assert (row["ltlpipe"], row["code"], row["machine"]) == ("0.1.0", "abc", "")
    assert not is_current(path)
