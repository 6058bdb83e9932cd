"""Scaling families of networks for symmetry: clients and a server, a dispatcher.

``formulas/README.md`` describes their components.
"""

from __future__ import annotations

from itertools import product

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

    Notes
    -----
    A scaling family for symmetry: `client_server` (n) has the clients 1..n and then the
    server.  A client composes a request, sends it and waits; it is granted a session,
    is refused while the server is closed, or its patience expires.  In its session it
    reads and is content with that (``release<i>``), or computes and commits or aborts.
    Then it works on its answer or, after a refusal or an abort, tries again or quits.

    A client's states are idle (0), composing, ready, waiting, backing off, answered,
    unpacked, connected, working and computed (9); the server is free (0), closed,
    saving, undoing (3), or busy_i (3+i) with client i, and stores nothing else about
    clients. ``formulas/README.md`` has a table of all steps, from which tests
    build the components again.

    All i are treated alike: every permutation of clients is a symmetry, and takes
    busy_i along.

    Sizes.  While no client is served, each client is in one of the states 0..6 and the
    server in one of 0..3, independently but for one case: while the server undoes, the
    client that has aborted has no answer, so not all clients are in states 5 and 6.
    While client i is served, it is in one of three states and the others are in any of
    0..6. That is

        4 * 7^n - 2^n + 3 * n * 7^(n-1)

    states, all of which can be reached: 1,805 for n = 3, 13,704 for n = 4, 103,211 for
    n = 5, and 1.2 * 10^11 for n = 12.  None is a deadlock.

    No component has accepting states.  ``formulas/client-server.ltl`` has 50 properties
    of particular clients.

    Source: our own, in the spirit of the model WCS with which S. Baarir and A.
    Duret-Lutz measure in "Emptiness Check of Powerset Büchi Automata using Inclusion
    Tests", technical report 2006/003, LIP6, Sec. 7.

    Differences from the source: it gives only the name and the sizes of its model;
    states, labels and sizes are ours.

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


_READY, _PAUSED = range(2)


def dispatcher(n: int, m: int) -> Network:
    """Build the network of `n` requests, `m` workers and the dispatcher.

    Parameters
    ----------
    n : int
        Number of requests, at least 1.
    m : int
        Number of workers, at least 1.

    Returns
    -------
    Network
        The requests in order, the workers in order, then the dispatcher; none has
        acceptance.

    Raises
    ------
    UnsupportedError
        `n` or `m` is less than 1.

    Notes
    -----
    A scaling family for symmetry with two classes: `dispatcher` (n, m) has the requests
    1..n, the workers 1..m and then the dispatcher, as in the middle of a middleware.  A
    request is created and submitted; the dispatcher picks one that is queued and
    assigns it to an idle worker, or puts it back.  The worker loads it and executes it;
    what it yields is collected by the dispatcher and finishes a request that is
    running.  All requests are for the same service, so a result answers any of them: a
    worker does not store its request, nor a request its worker.  Workers may crash;
    then a request that is running fails and is queued again.

    A request's states are idle (0), created, rejected, queued, picked, running,
    answered and read (7), a worker's idle (0), assigned, executing, done, broken,
    collected, repairing and cleaning (7).  The dispatcher is ready (0) or paused (1),
    or remembers one request (holding_r, 1+r) or one worker (delivering_w, 1+n+w) at a
    time. ``formulas/README.md`` has a table of all steps, from which tests build
    the components again.

    All r are treated alike and all w are: every permutation of requests together with
    every permutation of workers is a symmetry, and takes holding_r and delivering_w
    along.

    Sizes.  As many requests are running as workers are busy (states 1..5, of which
    collected belongs to delivering_w).  Let P(a, b) be the number of ways in which a
    requests, none of them picked, and b workers, none of them collected, can be so:

        P(a, b) = sum over k of C(a, k) * 6^(a-k) * C(b, k) * 4^k * 3^(b-k)

    with six states for a request that is not running, four for a busy worker and three
    for one that is not.  While worker w delivers, one request more is running than
    other workers are busy:

        Q(a, b) = sum over k of C(a, k+1) * 6^(a-k-1) * C(b, k) * 4^k * 3^(b-k)

    All of these combinations can be reached but one kind: the request that fails last
    is queued, and stays so or picked while no worker is idle, so if all workers are
    repairing, one request is.  Of the other five states per request, with the
    dispatcher ready or paused, that leaves out 2 * 5^n.  So there are

        2 * P(n, m) + n * P(n-1, m) + m * Q(n, m-1) - 2 * 5^n

    states: 12,074 for n = 3 and m = 2, 96,670 for n = 4 and m = 2, 441,278 for n = 4
    and m = 3, and 3,633,974 for n = 5 and m = 3.  None is a deadlock.

    No component has accepting states.  ``formulas/dispatcher.ltl`` has 50 properties of
    particular requests and workers.

    Source: our own, in the spirit of the model PO (a middleware) with which S. Baarir
    and A. Duret-Lutz measure in "Emptiness Check of Powerset Büchi Automata using
    Inclusion Tests", technical report 2006/003, LIP6, Sec. 7.

    Differences from the source: it gives only the name and the sizes of its model;
    states, labels and sizes are ours.

    Examples
    --------
    >>> [component.name for component in dispatcher(2, 1).components]
    ['request1', 'request2', 'worker1', 'dispatcher']
    """
    if n < 1 or m < 1:
        raise UnsupportedError(
            f"{n} requests and {m} workers need no dispatcher: use n >= 1 and m >= 1"
        )
    return Network(
        [
            *(_request(r, m) for r in range(1, n + 1)),
            *(_worker(w, n) for w in range(1, m + 1)),
            _dispatcher(n, m),
        ],
        name=f"dispatcher-{n}-{m}",
    )


def _request(r: int, m: int) -> LTS:
    transitions = [
        (0, f"create{r}", 1),
        (1, f"submit{r}", 3),
        (1, f"reject{r}", 2),
        (2, f"revise{r}", 1),
        (2, f"drop{r}", 0),
        (3, f"pick{r}", 4),
        (4, f"requeue{r}", 3),
        (6, f"read{r}", 7),
        (7, f"close{r}", 0),
    ]
    for w in range(1, m + 1):
        transitions += [
            (4, f"assign{r}_{w}", 5),
            (5, f"finish{r}_{w}", 6),
            (5, f"fail{r}_{w}", 3),
        ]
    return LTS.from_transitions(transitions, name=f"request{r}")


def _worker(w: int, n: int) -> LTS:
    transitions = [
        (1, f"load{w}", 2),
        (2, f"execute{w}", 3),
        (2, f"crash{w}", 4),
        (3, f"collect{w}", 5),
        (6, f"repair{w}", 0),
        (7, f"clean{w}", 0),
    ]
    for r in range(1, n + 1):
        transitions += [
            (0, f"assign{r}_{w}", 1),
            (4, f"fail{r}_{w}", 6),
            (5, f"finish{r}_{w}", 7),
        ]
    return LTS.from_transitions(transitions, name=f"worker{w}")


def _dispatcher(n: int, m: int) -> LTS:
    requests, workers = range(1, n + 1), range(1, m + 1)
    transitions = [(_READY, "pause", _PAUSED), (_PAUSED, "resume", _READY)]
    for r in requests:
        transitions += [
            (_READY, f"submit{r}", _READY),
            (_PAUSED, f"reject{r}", _PAUSED),
            (_READY, f"pick{r}", 1 + r),
            (1 + r, f"requeue{r}", _READY),
        ]
    transitions += [(_READY, f"collect{w}", 1 + n + w) for w in workers]
    for r, w in product(requests, workers):
        transitions += [
            (1 + r, f"assign{r}_{w}", _READY),
            (1 + n + w, f"finish{r}_{w}", _READY),
            (_READY, f"fail{r}_{w}", _READY),
        ]
    return LTS.from_transitions(transitions, name="dispatcher")
