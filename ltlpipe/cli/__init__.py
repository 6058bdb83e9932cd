"""The command line: one module per command.

`main` is what the shell calls.  It turns errors of ltlpipe into one message and
exit code 2.  Spot, Numba and pandas are imported by the commands that need
them, when they run: ``ltlpipe --help`` loads none.
"""

from __future__ import annotations

import sys
import warnings

from ltlpipe._errors import LtlpipeError, LtlpipeWarning


def main() -> None:
    """Run the command line and exit."""
    from ltlpipe.cli.application import app

    warnings.showwarning = _show_warning  # type: ignore[assignment]
    warnings.simplefilter("always", LtlpipeWarning)
    try:
        app()
    except LtlpipeError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"warning: {message}", file=sys.stderr)
