"""An option is one field: everything else is made from its declaration."""

import inspect

import pytest

from ltlpipe.batch.tasks import options_text
from ltlpipe.cli.options import takes
from ltlpipe.question.given_options import options_of, takes_options
from ltlpipe.question.options import CHECK, DEADLOCKS, OPTIONS, Option, Options
from ltlpipe.runtime.errors import UnsupportedError
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


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("timeout", "90", 90.0),
        ("timeout", "90s", 90.0),
        ("timeout", "5m", 300.0),
        ("timeout", "1.5 h", 5400.0),
        ("timeout", "250ms", 0.25),
        ("timeout", "inf", None),
        ("memory", "512", 512.0),
        ("memory", "4GiB", 4096.0),
        ("memory", "4G", 4096.0),
        ("memory", "4GB", 4e9 / 2**20),
        ("bitstate", "64mib", 64.0),
        ("max_states", "1000", 1000),
    ],
)
def test_values_may_have_units(name, text, value):
    assert OPTIONS[name].read(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("timeout", "5GB"), ("timeout", "m"), ("memory", "5s"), ("max_states", "1k")],
)
def test_units_of_other_options_are_refused(name, text):
    with pytest.raises(UnsupportedError, match="expected"):
        OPTIONS[name].read(name, text)


def test_a_default_that_has_a_name():
    """Spot is a translator among others; a store knows no difference."""
    assert Options(translator="spot") == Options()
    assert Options(translator="tool %f").translator == "tool %f"
    assert options_text({"translator": "spot"}) == options_text({})
