"""Which states have been visited, as far as that is kept: bits, or fingerprints.

A search has one of the two; the other is None, and kernels hold no code for it:
what follows ``is not None`` is left out then before it is typed.
"""

from __future__ import annotations

from ltlpipe.runtime.kernels.jit import specialised
from ltlpipe.search.nested.bit_keys import ask_for_bits, is_noted, key_of, note
from ltlpipe.search.nested.prints import add_print, ask_for_print, has_print


@specialised
def ask_for(bits, prints, salt, mixed):
    """Ask for what is kept of a state ahead of time."""
    if bits is not None:
        ask_for_bits(bits, mixed, salt)
    if prints is not None:
        ask_for_print(prints, mixed, salt)


@specialised
def has_visited(bits, prints, salt, mixed, red):
    """Whether the state of a hash seems to have been visited, in blue or in red.

    Red visits follow blue ones.
    """
    if bits is not None:
        return is_noted(bits, key_of(mixed, salt, red))
    if prints is not None:
        return has_print(prints, mixed, salt, red)
    return False


@specialised
def visit(bits, prints, salt, mixed, red):
    """Keep that the state of a hash is visited."""
    if bits is not None:
        note(bits, key_of(mixed, salt, red))
    if prints is not None:
        add_print(prints, mixed, salt, red)
