"""Property files of the Model Checking Contest."""

import gzip
import pickle

import pytest

from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import identifier, parse
from ltlpipe.runtime.errors import FormulaError, InputError

SET = """<?xml version="1.0"?>
<property-set xmlns="http://mcc.lip6.fr/">
{}</property-set>
"""
PROPERTY = """<property>
<id>{}</id>
<description>Automatically generated</description>
<formula><all-paths>{}</all-paths></formula>
</property>
"""
LE = "<integer-le>{}{}</integer-le>"
ONE = "<integer-constant>1</integer-constant>"
P = "<tokens-count><place>p</place></tokens-count>"
TWO = "<tokens-count><place>p</place><place>q.1-b</place></tokens-count>"
FIREABLE = (
    "<is-fireable><transition>t.1</transition><transition>u</transition></is-fireable>"
)


def of(*contents):
    return SET.format(
        "".join(PROPERTY.format(f"Net-{k:02}", x) for k, x in enumerate(contents))
    )


@pytest.fixture
def file(tmp_path):
    """Write the text of a file; return its path."""

    def written(text, name="LTLCardinality.xml"):
        path = tmp_path / name
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return written


@pytest.mark.parametrize(
    ("content", "meaning"),
    [
        ("<true/>", "true"),
        ("<negation><false/></negation>", "!false"),
        (f"<globally>{LE.format(ONE, P)}</globally>", "G(1 <= p)"),
        (f"<finally>{LE.format(TWO, ONE)}</finally>", r"F(p + q.1\-b <= 1)"),
        (f"<next><next>{FIREABLE}</next></next>", "X X fireable(t.1, u)"),
        ("<globally><finally><deadlock/></finally></globally>", "G F deadlock"),
        (
            (
                f"<until><before>{LE.format(P, ONE)}</before>"
                f"<reach>{FIREABLE}</reach></until>"
            ),
            "(p <= 1) U fireable(t.1, u)",
        ),
        (
            f"<conjunction>{FIREABLE}<true/>{LE.format(P, ONE)}</conjunction>",
            "fireable(t.1, u) && p <= 1",
        ),
        (
            (
                f"<disjunction><finally>{LE.format(P, ONE)}</finally><deadlock/>"
                "</disjunction>"
            ),
            "F(p <= 1) || deadlock",
        ),
        (
            f"<implication>{LE.format(P, ONE)}<deadlock/></implication>",
            "p <= 1 -> deadlock",
        ),
        (
            f"<equivalence>{LE.format(P, ONE)}<deadlock/></equivalence>",
            "p <= 1 <-> deadlock",
        ),
        (
            (
                f"<exclusive-disjunction><deadlock/>{LE.format(P, ONE)}"
                "</exclusive-disjunction>"
            ),
            "deadlock xor p <= 1",
        ),
        (LE.format(P, ONE.replace("1", "9" * 19)), f"p <= {'9' * 19}"),
        *[
            (f"<integer-{name}>{P}{ONE}</integer-{name}>", f"p {relation} 1")
            for name, relation in [
                ("lt", "<"),
                ("ge", ">="),
                ("gt", ">"),
                ("eq", "=="),
                ("ne", "!="),
            ]
        ],
        (
            LE.format(f"<integer-sum>{P}{ONE}{P}</integer-sum>", ONE),
            "p + 1 + p <= 1",
        ),
        (
            LE.format(f"<integer-difference>{TWO}{P}</integer-difference>", ONE),
            r"p + q.1\-b - p <= 1",
        ),
    ],
)
def test_what_elements_mean(content, meaning, file):
    (formula,) = read_formulas(file(of(content)))

    assert formula.spot == parse(meaning).spot
    assert formula.identifier == "Net-00"
    assert pickle.loads(pickle.dumps(formula)) == formula


def test_names_that_are_operators(file):
    """Places may be called like operators, and ids may begin with digits."""
    places = [
        f"<tokens-count><place>{name}</place></tokens-count>"
        for name in ["X", "U", "true", "7"]
    ]
    content = f"<next><next>{LE.format(places[0], places[1])}</next></next>"
    content = f"<conjunction>{content}{LE.format(*places[2:])}</conjunction>"

    (formula,) = read_formulas(file(of(content)))

    assert formula.propositions == ("X<=U", r"\true<=\7")


def test_large_files_are_parsed_by_a_worker(file):
    """Compressed here; the sum is longer than what is parsed in this process."""
    places = "".join(f"<place>GRUXFM_{k}</place>" for k in range(3000))
    content = LE.format(f"<tokens-count>{places}</tokens-count>", ONE)
    path = file(of(f"<globally>{content}</globally>", "<exists-path/>"), "LTL.xml.gz")

    formula, error = read_formulas(path, collect_errors=True)

    assert formula.text == f"G ({'+'.join(f'GRUXFM_{k}' for k in range(3000))}<=1)"
    assert isinstance(error, FormulaError)
    assert identifier(error) == "Net-01"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<exists-path><true/></exists-path>", "<exists-path>, expected LTL"),
        ("<next><all-paths><true/></all-paths></next>", "<all-paths>, expected LTL"),
        ("<place-bound><place>p</place></place-bound>", "<place-bound>, expected LTL"),
        ("<true/><true/>", "<all-paths> of 2 formulas, expected one"),
        ("<next/>", "<next> of 0 formulas"),
        ("<conjunction><true/></conjunction>", "1 operands of <conjunction>"),
        ("<implication><true/></implication>", "1 operands of <implication>"),
        ("<until><true/><true/></until>", "without <before> and <reach>"),
        ("<is-fireable/>", "<is-fireable> of no <transition>"),
        ("<is-fireable><place>p</place></is-fireable>", "expected ids in <transition>"),
        (LE.format(P, ""), "1 operands of <integer-le>, expected two"),
        (LE.format(P, "<true/>"), "<true>, expected <tokens-count>"),
        (
            LE.format(P, "<integer-constant>one</integer-constant>"),
            "'one', expected a number",
        ),
    ],
)
def test_what_is_no_ltl(content, message, file):
    path = file(of("<true/>", content))

    with pytest.raises(FormulaError) as caught:
        read_formulas(path)

    assert str(caught.value).startswith(f"{path}:8: Net-01: ")
    assert message in caught.value.message
    good, bad = read_formulas(path, collect_errors=True)
    assert (good.name, bad.message) == ("Net-00", caught.value.message)
    assert identifier(bad) == "Net-01"  # under which the contest expects an answer


def test_an_id_that_stands_twice(file):
    path = file(of("<true/>", "<true/>").replace("Net-01", "Net-00"))
    with pytest.raises(InputError, match=":8: a second formula 'Net-00'"):
        read_formulas(path)


ENTITIES = """<!DOCTYPE x [<!ENTITY a "aaaa">]>
<property-set>&a;</property-set>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": the file is empty, expected a <property-set>"),
        (of("<true/>")[:150], ":6: no XML"),
        ("G a\n", ":1: no XML"),
        ("<pnml/>", ":1: found <pnml>, expected <property-set>"),
        ("<property-set/>", ":1: no <property> in the set"),
        ("<property-set><id/></property-set>", ":1: <id> in <property-set>, expected"),
        (SET.format("<property/>"), ":3: a <property> without <id>"),
        (ENTITIES, ":1: a document type declaration, expected none"),
    ],
)
def test_what_is_no_set_of_properties(text, message, file):
    path = file(text)

    with pytest.raises(InputError) as caught:
        read_formulas(path, collect_errors=True)

    assert str(caught.value).startswith(path + message)
