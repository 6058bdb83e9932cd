"""Priorities of clients, as a constraint on the symmetric net of clients and servers.

The net treats all clients alike.  A constraint says which of them goes first: client c
is served only while no client before it waits.  So the asymmetry concerns one
transition, and is on the side of the property.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4 (asymmetries as constraints)
and its introduction (clients that differ in priority when they access the server).
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.propositions.letters import MAX_PROPOSITIONS


def priorities(n: int, m: int) -> str:
    """Return the constraint for `coloured_client_server` (n, m), as HOA.

    It has one state.  Its label has a proposition for each client that can be before
    another one, ``waiting.c==1``, and one for each client that can be behind another
    one and each server, ``action=="serve.c.s"``.

    Raises
    ------
    UnsupportedError
        There is no client or no server, or so many that a property cannot name them.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    waiting = {c: k for k, c in enumerate(range(1, n))}
    served = {
        (c, s): len(waiting) + k
        for k, (c, s) in enumerate((c, s) for c in range(2, n + 1) for s in _numbers(m))
    }
    n_propositions = len(waiting) + len(served)
    if n_propositions > MAX_PROPOSITIONS:
        raise UnsupportedError(
            f"priorities of {n} clients and {m} servers have {n_propositions} "
            f"propositions, the limit is {MAX_PROPOSITIONS}: use fewer"
        )
    names = [f"waiting.{c}==1" for c in waiting]
    names += [f'action==\\"serve.{c}.{s}\\"' for c, s in served]
    rules = []
    for c in range(2, n + 1):
        other = "&".join(f"!{served[c, s]}" for s in _numbers(m))
        first = "&".join(f"!{waiting[before]}" for before in range(1, c))
        rules.append(f"(({other})|({first}))")
    propositions = " ".join([str(n_propositions), *(f'"{name}"' for name in names)])
    return "\n".join(
        [
            "HOA: v1",
            f'name: "client c is served while none of 1 to c - 1 waits, {n} clients"',
            "States: 1",
            "Start: 0",
            f"AP: {propositions}",
            "acc-name: all",
            "Acceptance: 0 t",
            "--BODY--",
            f"State: 0\n[{'&'.join(rules) or 't'}] 0",
            "--END--\n",
        ]
    )


def _numbers(n: int) -> range:
    return range(1, n + 1)
