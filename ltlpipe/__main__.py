"""``python -m ltlpipe`` is ``ltlpipe``."""

import sys
from pathlib import Path

# Python looks for modules in the working directory first then: what lies there would
# be run in the place of libraries.
if sys.path and Path(sys.path[0]) == Path.cwd() != Path(__file__).parents[1]:
    del sys.path[0]

from ltlpipe.cli import program

if __name__ == "__main__":
    program()
