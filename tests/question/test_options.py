"""An option is one field: everything else is made from its declaration."""

import inspect

import pytest

from ltlpipe.cli.options import takes
from ltlpipe.question.given_options import options_of, takes_options
from ltlpipe.question.options import CHECK, DEADLOCKS, OPTIONS, Option
from scripts import options as page

GROUPS = ["question", "search", "limits", "counterexample", "output", "experts"]


def test_each_option_has_a_group():
    """Groups follow each other in help and documentation."""
    assert list(dict.fromkeys(o.group for o in OPTIONS.values())) == GROUPS


@pytest.fixture
def another(monkeypatch):
    """Declare an option."""
    option = Option("What colour.", kind=str, choices=("red", "blue"), default="red")
    monkeypatch.setitem(OPTIONS, "ink", option)
    return option


def test_a_new_option_is_taken_everywhere(another):
    """At the command line, by functions and their documentation, on the page."""

    @takes_options(CHECK)
    def function(**options):
        """Do it.

        Parameters
        ----------
        **options
            Those of `check`.
        """

    @takes(CHECK)
    def command(**chosen):
        """Do it."""

    assert options_of(CHECK)["ink"] == another
    assert "ink" not in options_of(DEADLOCKS)
    assert inspect.signature(function).parameters["ink"].default == "red"
    assert inspect.signature(command).parameters["ink"].default == "red"
    assert "    What colour. Default: red.\n" in function.__doc__
    assert "## `--ink" in page.page()
