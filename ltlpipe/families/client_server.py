"""One server and interchangeable clients, of which it serves one at a time.

A scaling family for symmetry: `client_server` (n) has the clients 1..n and then the
server.  A client composes a request, sends it and waits; it is granted a session, is
refused while the server is closed, or its patience expires.  In its session it reads
and is content with that (``release<i>``), or computes and commits or aborts.  Then it
works on its answer or, after a refusal or an abort, tries again or quits.

A client's states are idle (0), composing, ready, waiting, backing off, answered,
unpacked, connected, working and computed (9); the server is free (0), closed, saving,
undoing (3), or busy_i (3+i) with client i, and stores nothing else about clients.
``docs/symmetric-models.md`` has a table of all steps, from which tests build the
components again.

All i are treated alike: every permutation of clients is a symmetry, and takes busy_i
along.

Sizes.  While no client is served, each client is in one of the states 0..6 and the
server in one of 0..3, independently but for one case: while the server undoes, the
client that has aborted has no answer, so not all clients are in states 5 and 6.  While
client i is served, it is in one of three states and the others are in any of 0..6.
That is

    4 * 7^n - 2^n + 3 * n * 7^(n-1)

states, all of which can be reached: 1,805 for n = 3, 13,704 for n = 4, 103,211 for
n = 5, and 1.2 * 10^11 for n = 12.  None is a deadlock.

No component has accepting states.  ``formulas/client-server.ltl`` has 50 properties of
particular clients.

Source: our own, in the spirit of the model WCS with which S. Baarir and A. Duret-Lutz
measure in "Emptiness Check of Powerset Büchi Automata using Inclusion Tests",
technical report 2006/003, LIP6, Sec. 7.

Differences from the source: it gives only the name and the sizes of its model; states,
labels and sizes are ours.
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

_FREE, _CLOSED, _SAVING, _UNDOING = range(4)


def client_server(n: int) -> Network:
    """Build the network of `n` clients and their server.

    Parameters
    ----------
    n : int
        Number of clients, at least 1.

    Returns
    -------
    Network
        The clients in order, then the server; none has acceptance.

    Raises
    ------
    UnsupportedError
        `n` is less than 1.

    Examples
    --------
    >>> [component.name for component in client_server(2).components]
    ['client1', 'client2', 'server']
    """
    if n < 1:
        raise UnsupportedError(f"the number of clients must be at least 1, not {n}")
    clients = [_client(i) for i in range(1, n + 1)]
    return Network([*clients, _server(n)], name=f"client-server-{n}")


def _client(i: int) -> LTS:
    return LTS.from_transitions(
        [
            (0, f"wake{i}", 1),
            (1, f"compose{i}", 2),
            (2, f"request{i}", 3),
            (3, f"grant{i}", 7),
            (3, f"refuse{i}", 4),
            (3, f"expire{i}", 4),
            (4, f"retry{i}", 2),
            (4, f"quit{i}", 0),
            (5, f"unpack{i}", 6),
            (6, f"show{i}", 0),
            (7, f"read{i}", 8),
            (8, f"compute{i}", 9),
            (8, f"release{i}", 5),
            (9, f"commit{i}", 5),
            (9, f"abort{i}", 4),
        ],
        name=f"client{i}",
    )


def _server(n: int) -> LTS:
    clients = range(1, n + 1)
    transitions = [
        (_FREE, "maintain", _CLOSED),
        (_CLOSED, "open", _FREE),
        (_SAVING, "save", _FREE),
        (_UNDOING, "undo", _FREE),
    ]
    for i in clients:
        busy = 3 + i
        transitions += [
            (state, f"request{i}", state) for state in (_FREE, _SAVING, _UNDOING)
        ]
        transitions += [
            (_FREE, f"grant{i}", busy),
            (_CLOSED, f"refuse{i}", _CLOSED),
            (busy, f"read{i}", busy),
            (busy, f"release{i}", _FREE),
            (busy, f"commit{i}", _SAVING),
            (busy, f"abort{i}", _UNDOING),
        ]
        transitions += [(busy, f"request{j}", busy) for j in clients if j != i]
    return LTS.from_transitions(transitions, name="server")
