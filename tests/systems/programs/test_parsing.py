"""The parser of DVE against the grammar, which is parsed by lark."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Tree, UnexpectedInput, UnexpectedToken

from benchmarks.field_files import DVE
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs import syntax
from ltlpipe.systems.programs.parsing import MAX_TOKENS, Parser, UnreadError, tree_of
from ltlpipe.systems.programs.syntax import Place
from tests.example_counts import examples
from tests.systems.programs.dve_grammar import grammar
from tests.systems.programs.random_models import models

CALLED = {"and": "&&", "or": "||", "!": "not"}
KINDS = {
    kind.__name__.lower(): kind
    for kind in vars(syntax).values()
    if isinstance(kind, type) and issubclass(kind, tuple)
}
WITHOUT_TOKEN = {"closed", "transition"}


def by_grammar(text):
    """The tree of a text, made of what lark returns; None if it is no model."""
    try:
        tree = grammar().parse(text)
    except UnexpectedInput:
        return None
    return made(tree)[0]


def made(tree):
    """A node of the tree, and its place: of its first token, or its first part."""
    kind = str(tree.data)
    fields, tokens, places = [], [], []
    for child in tree.children:
        if isinstance(child, Tree):
            part, place = made(child)
            fields.append(part)
            places.append(place)
        else:
            fields.append(child if child is None else str(child))
            tokens += [] if child is None else [child]
    place = next((p for p in places if p is not None), None)
    if tokens:
        place = Place(tokens[0].line, tokens[0].column)
    if kind in WITHOUT_TOKEN:
        del fields[next(k for k, f in enumerate(fields) if f == str(tokens[0]))]
    elif kind in ("unary", "binary"):
        fields[-2] = CALLED.get(fields[-2], fields[-2])
    maker = KINDS.get(kind)
    return (maker(place, *fields) if maker else tuple(fields)), place


def by_parser(text):
    """The tree of a text; None if it is no model."""
    parser = Parser(text, "m.dve")
    try:
        complete(parser.tokenise())
        return complete(parser.file())
    except UnreadError:
        return None


def assert_same(text):
    """Both read the same tree, with the same places, or neither, at one place."""
    found = by_parser(text)
    assert found == by_grammar(text)
    if found is None and "/*" not in text:
        with pytest.raises(InputError) as raised:
            complete(tree_of(text, "m.dve"))
        with pytest.raises(UnexpectedInput) as expected:
            grammar().parse(text)
        error = expected.value
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        if not at_end:
            place = f"m.dve:{error.line}: column {error.column}: unexpected "
            assert str(raised.value).startswith(place)
    return found


@given(models())
@settings(max_examples=examples(60), deadline=None)
def test_models(text):
    """Random ones, with everything that the language has."""
    assert assert_same(text) is not None


@pytest.mark.parametrize("name", DVE)
def test_dialects(name):
    """Models as BEEM and DiVinE write them."""
    for seed in range(20):
        assert assert_same(DVE[name](Random(seed)).text) is not None


TOKENS = [
    *("process", "state", "init", "trans", "guard", "sync", "effect", "assert", "byte"),
    *("->", "{", "}", "(", ")", "[", "]", ";", ",", ":", ".", "!", "?", "=", "==", "-"),
    *("&&", "and", "not", "imply", "x", "7", "true", "/*", "//", "\n", "#", " "),
]


def _mutated(text, changes):
    parts = text.split(" ")
    for place, token, inserts in changes:
        at = place % len(parts)
        parts[at : at + (not inserts)] = [token]
    return " ".join(parts)


CHANGES = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(TOKENS), st.booleans()),
    min_size=1,
    max_size=3,
)


@given(models(), CHANGES)
@settings(max_examples=examples(100), deadline=None)
def test_texts_that_are_hardly_models(text, changes):
    """Words put somewhere, or in the place of others."""
    assert_same(_mutated(text, changes))


@pytest.mark.slow
@given(models(), CHANGES)
@settings(max_examples=examples(1000), deadline=None)
def test_texts_that_are_hardly_models_by_the_thousand(text, changes):
    """The same."""
    assert_same(_mutated(text, changes))


@given(st.lists(st.sampled_from(TOKENS), max_size=12))
@settings(max_examples=examples(300), deadline=None)
def test_guards_of_any_words(words):
    """Most are none."""
    guard = " ".join(words)
    assert_same(
        f"byte x; process P {{ state s; init s; trans s -> s {{ guard {guard}; }}; }} "
        "system async;"
    )


def test_an_error_names_what_was_expected():
    """It is noted when a text is read once more."""
    with pytest.raises(InputError, match="column 6: unexpected ';', expected a name"):
        complete(tree_of("byte ;", "m.dve"))


def test_comments_that_do_not_end():
    """The first of them is all there is behind it."""
    parser = Parser("byte x; /* /* / /* /", "m.dve")
    complete(parser.tokenise())
    assert parser._tokens == ["byte", "x", ";", "/* /* / /* /", ""]
    with pytest.raises(InputError, match="column 9: unexpected end of file in a comm"):
        complete(tree_of("byte x; " + "/* " * 100_000, "m.dve"))


@pytest.mark.parametrize(
    "declaration",
    [
        "byte x = {};".format("+".join(["1"] * MAX_TOKENS)),
        "byte x = {};".format("-" * (MAX_TOKENS + 10) + "1"),
        "byte x[9] = {{{}}};".format(",".join(["1"] * MAX_TOKENS)),
    ],
)
def test_a_part_is_bounded(declaration):
    """While it is read nothing can be interrupted."""
    with pytest.raises(UnsupportedError, match=r"m\.dve:1: more than 65536 tokens in"):
        complete(tree_of(declaration, "m.dve"))


def test_many_states_are_read_in_turns():
    """And so are many transitions, and what is wrong behind them."""
    states = ", ".join(f"s{k}" for k in range(30_000))
    text = f"process P {{ state {states}; init s0; }} system async"
    job = tree_of(f"{text};", "m.dve")
    assert len([progress for progress in job if progress.work]) > 3
    with pytest.raises(InputError, match="unexpected end of file"):
        assert len(list(tree_of(text, "m.dve"))) > 10
