"""Properties of the Model Checking Contest: written as its files, read, and decided.

The folder is named by ``LTLPIPE_BENCHMARKS``, by default beside the checkout.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

import ltlpipe
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import Call, Name, Number, Operation, Text

DEFAULT = Path(__file__).parents[3] / "shared" / "benchmarks"
FOLDER = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "mcc"

pytestmark = [
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason=f"no benchmarks in {FOLDER} (LTLPIPE_BENCHMARKS)"
    ),
    pytest.mark.thorough("reads published problems"),
]

ELEMENTS = {
    "tt": "true", "ff": "false", "Not": "negation", "And": "conjunction",
    "Or": "disjunction", "Implies": "implication", "Equiv": "equivalence",
    "Xor": "exclusive-disjunction", "X": "next", "F": "finally", "G": "globally",
}  # fmt: skip
LONG = ("CSRepetitions-PT-05",)  # minutes


def tasks():
    if not FOLDER.is_dir():
        return []
    with (FOLDER / "tasks.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def about_states():
    """The tasks on cardinalities: the contest's files cannot name the next step."""
    return [task for task in tasks() if "action" not in task["formula"]]


def element(kind, *parts):
    return f"<{kind}>{''.join(parts)}</{kind}>"


def number(expression):
    """A sum of places, or a constant."""
    if isinstance(expression, Number):
        return element("integer-constant", str(expression.value))
    names = [expression] if isinstance(expression, Name) else expression.operands
    assert all(isinstance(name, Name) for name in names)
    places = [element("place", escape(name.text)) for name in names]
    return element("tokens-count", *places)


def proposition(text):
    expression = parse_proposition(text)
    if isinstance(expression, Operation) and isinstance(expression.operands[1], Text):
        expression = Call("fireable", (Name(expression.operands[1].value),))
    if isinstance(expression, Call):
        names = [element("transition", escape(n.text)) for n in expression.arguments]
        return element("is-fireable", *names)
    kind = {"<=": "integer-le", "<": "integer-lt", "==": "integer-eq"}
    return element(kind[expression.operator], *map(number, expression.operands))


def xml(formula):
    """A formula of Spot as the contest writes it."""
    kind = formula.kindstr()
    if kind == "ap":
        return proposition(formula.ap_name())
    parts = [xml(part) for part in formula]
    if kind == "U":
        before, reach = parts
        return element("until", element("before", before), element("reach", reach))
    return element(ELEMENTS[kind], *parts)


def write_set(path, chosen):
    """Write tasks as a property file."""
    properties = [
        element(
            "property",
            element("id", escape(task["task"])),
            element("formula", element("all-paths", xml(parse(task["formula"]).spot))),
        )
        for task in chosen
    ]
    path.write_text(element("property-set", *properties))
    return path


def test_every_published_formula_is_read_back(tmp_path):
    """`action=="t"`, which the files cannot say, is read as `fireable(t)`."""
    path = write_set(tmp_path / "LTL.xml", tasks())

    formulas = read_formulas(path)

    assert [f.name for f in formulas] == [task["task"] for task in tasks()]
    for formula, task in zip(formulas, tasks(), strict=True):
        text = task["formula"]
        if "action" in text:
            assert "fireable(" in formula.text
            assert "action" not in formula.text
        else:
            assert formula.spot == parse(text).spot


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", sorted({task["model"] for task in about_states()} - {*LONG})
)
def test_published_verdicts(model, tmp_path):
    """Each published verdict is the one of the formula in the file."""
    chosen = [task for task in about_states() if task["model"] == model]
    path = write_set(tmp_path / "LTLCardinality.xml", chosen)
    system = ltlpipe.load(FOLDER / "models" / f"{model}.pnml.gz")

    for formula, task in zip(read_formulas(path), chosen, strict=True):
        verdict = ltlpipe.check(system, formula, timeout=120)
        assert verdict.formula_id == task["task"]
        assert verdict.verdict == task["verdict"]
