"""Progress bars of commands, and error messages beside them."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import LtlpipeError, ReplayError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.progress_bar import search_bar

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ltlpipe.runtime.progress_bar import SearchProgress


class Complaints:
    """Prints the failures of a run over many tasks."""

    found_bug = False
    """Whether a run that was found fails its replay."""

    _said = ""

    def complain(self, error: Exception) -> None:
        """Print an error; the same one in a row is printed once."""
        message = f"error: {error}"
        self.found_bug |= isinstance(error, ReplayError)
        if isinstance(error, StoppedError):
            return  # a limit, which is the reason in the task's row
        if not isinstance(error, LtlpipeError):
            traceback.print_exception(error)
            print("error: this is a bug of ltlpipe; please report it", file=sys.stderr)
        elif message != self._said:
            print(message, file=sys.stderr)
        self._said = message


def search_progress(*, quiet: bool) -> AbstractContextManager[SearchProgress]:
    """Show progress while the block runs, if standard error is a terminal."""
    return search_bar(not quiet)
