"""The quick tests kill the mutants."""

import pytest

from tests.mutants.mutants import MUTANTS
from tests.mutants.trying import ROOT, mutated, survives


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_changes_one_place(mutant):
    assert mutated(mutant) != mutant.old
    assert all((ROOT / "tests" / name).exists() for name in mutant.tests)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_is_killed(mutant, tmp_path):
    if mutant.explained:
        pytest.skip(mutant.explained)
    assert not survives(mutant, tmp_path)
