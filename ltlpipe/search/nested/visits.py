"""Which states have been visited, as far as that is kept: bits, or fingerprints.

A search has one of the two; the other is None, and kernels hold no code for it.
"""

from __future__ import annotations

from ltlpipe.runtime.kernels.jit import specialised
from ltlpipe.search.nested.bit_keys import ask_for_bits, is_noted, key_of, note
from ltlpipe.search.nested.prints import add_print, ask_for_print, has_print


@specialised
def ask_for(bits, prints, salt, mixed):
    """Ask for what is kept of a state ahead of time."""
    if prints is None:
        ask_for_bits(bits, mixed, salt)
    else:
        ask_for_print(prints, mixed, salt)


@specialised
def has_visited(bits, prints, salt, mixed, red):
    """Whether the state of a hash seems to have been visited, in blue or in red.

    Red visits follow blue ones.
    """
    if prints is None:
        return is_noted(bits, key_of(mixed, salt, red))
    return has_print(prints, mixed, salt, red)


@specialised
def visit(bits, prints, salt, mixed, red):
    """Keep that the state of a hash is visited."""
    if prints is None:
        note(bits, key_of(mixed, salt, red))
    else:
        add_print(prints, mixed, salt, red)
