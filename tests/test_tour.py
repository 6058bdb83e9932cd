"""The notebooks in `docs/`: they run, and show what they promise."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.thorough("runs notebooks")

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOKS = ("tour.ipynb", "spot.ipynb")


def read(name):
    return nbformat.read(DOCS / name, as_version=4)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_outputs_are_kept(name):
    """They would be of another day: `jupyter nbconvert --clear-output --inplace`."""
    notebook = read(name)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}


def shown_by(name, folder, monkeypatch):
    """What the cells of a notebook show, each executed in one new process."""
    for variable in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "TMPDIR"):
        (folder / variable).mkdir()
        monkeypatch.setenv(variable, str(folder / variable))
    where = {"metadata": {"path": str(DOCS)}}
    client = NotebookClient(
        read(name), timeout=900, kernel_name="python3", resources=where
    )
    outputs = [o for cell in client.execute().cells for o in cell.get("outputs", [])]
    assert [o for o in outputs if "ename" in o] == []
    shown = [o["data"] for o in outputs if "data" in o]
    return [data for data in shown if any(data.values())]  # but bars that are gone


def test_the_tour(tmp_path, monkeypatch):
    """What is shown is HTML and pictures."""
    shown = shown_by("tour.ipynb", tmp_path, monkeypatch)
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


@pytest.mark.skipif(not shutil.which("dot"), reason="Spot draws by Graphviz's dot")
def test_spot_objects(tmp_path, monkeypatch):
    """From Spot's objects to verdicts and back."""
    shown = shown_by("spot.ipynb", tmp_path, monkeypatch)
    texts = [data["text/plain"] for data in shown]
    assert sum("image/svg+xml" in data for data in shown) == 4
    # Equivalent; of the word: violates, satisfies not; the product has a run.
    facts = [t for t in texts if t in ("True", "(True, False)", "(False, True)")]
    assert facts == ["True", "(True, False)", "(False, True)"]
    assert "verdict='violated'" in texts[3]
    assert "EmptinessResult(empty=False" in "".join(texts)
    assert "['holds', 'violated']" in texts
    assert "recurrence" in texts[-2]
    assert texts[-1].count("violated") == 4
