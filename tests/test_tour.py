"""The notebook in `docs/`: it runs, and shows what it promises."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parent.parent / "docs" / "tour.ipynb"


@pytest.fixture(scope="module")
def tour():
    return nbformat.read(TOUR, as_version=4)


def test_no_outputs_are_kept(tour):
    """They would be of another day: `jupyter nbconvert --clear-output --inplace`."""
    nbformat.validate(tour)
    cells = [cell for cell in tour.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


def test_it_runs(tour, tmp_path, monkeypatch):
    """Every cell, in a new process; what is shown is HTML and pictures."""
    for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "TMPDIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    where = {"metadata": {"path": str(TOUR.parent)}}
    client = NotebookClient(
        tour.copy(), timeout=900, kernel_name="python3", resources=where
    )
    done = client.execute()

    shown = [
        output["data"]
        for cell in done.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    html = [data["text/html"] for data in shown if "text/html" in data]
    for expected in (
        *(
            "problems/mutex/system.dot</code>: 3 components",
            ">violated</strong>",
            "Lasso: ",
        ),
        *(">holds</strong>", "Property automaton: 2 states", "configuration"),
    ):
        assert any(expected in text for text in html), expected
    assert ["image/png" in data for data in shown[-3:]] == [True] * 3
    assert [e for c in done.cells for e in c.get("outputs", []) if "ename" in e] == []
