"""Ctrl-C: a flag while a job runs, an exception elsewhere."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Interrupt:
    """Whether Ctrl-C has been pressed; see `interruptible`."""

    pressed: bool = False


_unheeded = Interrupt()
"""A Ctrl-C between jobs, whose exception may be lost (in an import, in a callback)."""


def heed_ctrl_c() -> None:
    """Let each loop that begins after Ctrl-C end at once, until `ended_by_ctrl_c`."""

    def note(_signal: int, _frame: object) -> None:
        _unheeded.pressed = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)


def ignore_ctrl_c() -> None:
    """Ignore Ctrl-C from now on: the process is about to end."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the block, and nothing after it."""
    with suppress(KeyboardInterrupt):
        yield
    _unheeded.pressed = False


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Turn Ctrl-C into a flag while the block runs; a second one raises.

    The flag is up from the start if a Ctrl-C has come between jobs (`heed_ctrl_c`).
    Outside the main thread signals cannot be caught, and it does not change.
    """
    interrupt = Interrupt(_unheeded.pressed)
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    previous = signal.getsignal(signal.SIGINT)

    def note(_signal: int, _frame: object) -> None:
        interrupt.pressed = True
        signal.signal(signal.SIGINT, previous or signal.default_int_handler)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, previous or signal.default_int_handler)
