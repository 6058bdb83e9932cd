"""Files of every dialect are read as they were meant, or refused by name."""

from __future__ import annotations

import pytest

from benchmarks import field
from benchmarks.field_files import Written

KINDS = field.kinds()


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_dialects(kind, tmp_path):
    """None is refused wrongly, or read otherwise."""
    row = field.measured(kind, 4, 7, tmp_path)
    expected = "read" if kind.is_right else "refused_rightly"
    assert row[expected] == 4, row["message"]
    assert row["read_otherwise"] == 0


def test_what_is_counted(tmp_path):
    """Files that are refused, read otherwise, or should not have been read."""
    model = Written("byte x; process P { state s; init s; } system async;", (3, 0))
    kind = field.Kind("dve", ".dve", lambda _: model, field._sizes_of_model)
    assert field.measured(kind, 2, 1, tmp_path)["read"] == 2
    other = kind._replace(write=lambda _: model._replace(holds=(3, 1)))
    assert field.measured(other, 2, 1, tmp_path)["read_otherwise"] == 2
    wrong = kind._replace(is_right=False)
    assert field.measured(wrong, 2, 1, tmp_path)["read_wrongly"] == 2
    broken = kind._replace(write=lambda _: model._replace(text="byte x"))
    row = field.measured(broken, 2, 1, tmp_path)
    assert (row["refused_wrongly"], row["read"]) == (2, 0)
    assert row["message"].startswith("/m.dve:1: ")
    assert (
        field.measured(wrong._replace(write=broken.write), 2, 1, tmp_path)[
            "refused_rightly"
        ]
        == 2
    )
