"""Messages name parameters as the caller has written them."""

import pytest

from ltlpipe import UnsupportedError
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.names import AS_WRITTEN, FLAGS, PARAMETERS, name_as, spelled

TEXT = "--emptiness=se05 for --max-states=7, not --reduce: use --no-lasso"


@pytest.mark.parametrize(
    ("way", "text"),
    [
        (FLAGS, "--emptiness se05 for --max-states 7, not --reduce: use --no-lasso"),
        (PARAMETERS, "emptiness='se05' for max_states=7, not reduce=: use lasso=False"),
        (AS_WRITTEN, TEXT),
    ],
)
def test_ways(way, text):
    """Flags at the command line, parameters in Python."""
    assert "emptiness" in OPTIONS  # they are declared

    assert spelled(TEXT, way) == text
    assert spelled(spelled(TEXT, way), way) == text


def test_values():
    """They may be quoted, and end where punctuation begins."""
    assert spelled("--fair-sets='a b,c': no") == "fair_sets='a b,c': no"
    assert spelled("(--fair-sets=a,b).") == "(fair_sets='a,b')."
    assert spelled("--timeout=2.5, then") == "timeout=2.5, then"
    assert spelled("--timeout=-1: no") == "timeout=-1: no"


def test_what_is_no_parameter():
    """Flags of other programs and parts of names stay as they are."""
    for text in ("ltl2tgba --low=3", "a--emptiness=1.dot", "--BODY--", "a -- b"):
        assert spelled(text) == text


def test_errors():
    """They are spelled when they are read, by whoever reads them."""
    error = UnsupportedError("use --emptiness=tela")
    assert str(error) == "use emptiness='tela'"
    name_as(FLAGS)
    try:
        assert str(error) == "use --emptiness tela"
    finally:
        name_as(PARAMETERS)
