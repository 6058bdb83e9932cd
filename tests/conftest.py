"""Settings of the whole test run."""

from __future__ import annotations

import gc
import random
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.vendor import pretty

from ltlpipe.runtime.memory import collect_seldom
from ltlpipe.runtime.names import PARAMETERS, name_as

# Thousands of tests live on, and the collector would look at them again and again.
collect_seldom()

# Kernels compile on their first call: no deadline for single examples.  The examples
# of a change's own tests are the same each time, so that main stays as it was seen;
# `make slow` draws others each time.  `max_examples` scales all tests
# (tests/example_counts.py).
settings.register_profile("same", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("quick", settings.get_profile("same"), max_examples=10)
settings.register_profile("others", deadline=None, print_blob=True)
settings.load_profile("same")

# A shell that runs tests in the background has them ignore Ctrl-C, and so would the
# programs that they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    "search/test_modes.py",
    "symmetry/sets/test_modes.py",
    "cross/test_agreement.py",
    "cross/test_automorphisms.py",
    "cross/test_symbolic_nets.py",
    "cross/test_combinations.py",
    "cross/test_every_search.py",
    "verdict/test_every_combination.py",
    "test_benchmarks.py",
    "cli/test_check.py",
    "search/test_emerson_lei.py",
    "batch/test_dask.py",
    "systems/test_graph_modes.py",
    "cli/test_ctrl_c.py",
    "cross/test_rers_like.py",
    "cross/test_models.py",
    "cross/test_trimming.py",
    "cross/test_ample.py",
    "components/test_composition.py",
)
"""Files that take longest although they have few tests."""


@pytest.fixture(autouse=True, scope="session")
def all_workers_from_the_start():
    """Several workers search small products together, too, so that races happen."""
    from ltlpipe.search.shared.search import SharedSearch

    SharedSearch.alone = 0


@pytest.fixture(autouse=True)
def messages_as_in_python():
    """Each test is a caller from Python; those that run a command are not for long."""
    name_as(PARAMETERS)
    yield
    name_as(PARAMETERS)


@pytest.fixture(autouse=True, scope="session")
def _own_state(tmp_path_factory):
    """What the program keeps for its user is kept for nobody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


def pytest_addoption(parser):
    """Have the tests of each file in another order: none may need one before it."""
    parser.addoption("--shuffled", type=int, metavar="SEED", help="order in each file")


@pytest.hookimpl(trylast=True)  # what is deselected does not count
def pytest_collection_modifyitems(config, items):
    """Begin with what takes longest, and end with files of one test.

    A file is run by one process (scripts/test): begun last, a long one would leave
    all other cores idle.
    """
    for item in items:
        left_out = item.get_closest_marker("thorough")
        if left_out is not None and not left_out.args:
            raise pytest.UsageError(f"{item.nodeid}: thorough, but without a reason")
    folder = Path(__file__).parent
    first = [folder / name for name in LONG]
    missing = [path for path in first if not path.exists()]
    if missing:
        raise pytest.UsageError(f"LONG in tests/conftest.py: no file {missing[0]}")
    n_tests = Counter(item.path for item in items)
    place = {path: k for k, path in enumerate(first)}
    seed = config.getoption("shuffled")
    if seed is not None:
        random.Random(seed).shuffle(items)  # sorting by file keeps this order
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)
    order = {
        path: (place.get(path, len(LONG)), -n, path) for path, n in n_tests.items()
    }
    items.sort(key=lambda item: order[item.path])


def pytest_collection_finish():
    """Leave what has been collected out of all later garbage collections."""
    gc.freeze()


def _written_lts(lts, printer, _):
    printer.text(
        f"LTS(transitions={lts.transitions()}, n_states={lts.n_states}, "
        f"initial={lts.initial}, labels={lts.labels}, internal={lts.internal}, "
        f"accepting={lts.accepting}, name={lts.name!r})"
    )


def _written_network(network, printer, _):
    printer.pretty(list(network.components))


# What fails is printed whole: `repr` says only sizes.
pretty.for_type_by_name("ltlpipe.systems.networks.lts", "LTS", _written_lts)
pretty.for_type_by_name("ltlpipe.systems.networks.lts", "Network", _written_network)
