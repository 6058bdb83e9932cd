"""Try mutants by hand, all or those with the names given."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.mutants import MUTANTS
from tests.mutants.trying import survives


def main() -> int:
    """Print what becomes of each mutant; return how many survive unexplained."""
    left = 0
    for mutant in MUTANTS:
        if sys.argv[1:] and mutant.name not in sys.argv[1:]:
            continue
        with TemporaryDirectory() as folder:
            lives = survives(mutant, Path(folder))
        said = "SURVIVES" if lives else "killed"
        if lives and mutant.explained:
            said = f"survives: {mutant.explained}"
        left += lives and not mutant.explained
        print(f"{mutant.name}: {said}", flush=True)
    return left


if __name__ == "__main__":
    sys.exit(main())
