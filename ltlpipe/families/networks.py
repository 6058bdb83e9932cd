"""Scaling families of networks.  Begin with `philosophers`, the smallest.

The last three are populations of agents that meet two by two: systems that only
symmetry makes small.  Any agent can meet any other one, and a meeting changes what both
are in.  No step is internal, every two agents have actions in common, and a group of
agents that has been composed still has to tell its members apart, since each of them
can meet each of the others.  So neither ample sets nor decoupling, factoring or
composition make the system smaller, while agents are interchangeable: what counts is
how many are in which state.  The global actions `tie`, `zero` and `extinct` only serve
to ask for what never happens; agents that agree do not meet.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Steps = Iterator[tuple[int, str, int]]


def philosophers(n: int) -> Network:
    """Build the network of `n` dining philosophers and their `n` forks.

    Parameters
    ----------
    n : int
        Number of philosophers, at least 2.

    Returns
    -------
    Network
        2n components with acceptance; no run of it is accepting.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.

    Notes
    -----
    `philosophers` (n) has 2n components, n philosophers and n
    forks in the order philosopher 0, fork 0, philosopher 1, fork 1, and so on, so
    that components which share a label lie close together.  Fork i lies between
    philosopher i, whose left fork it is, and philosopher i+1.

    A philosopher's six states, with the step that leaves each:

    ====== ======= ===================
    state  holds   step
    ====== ======= ===================
    0      nothing ``lf<i>`` takes left
    1      left    ``rf<i>`` takes right
    2      both    ``eat<i>``, local
    3      both    ``lf<i>`` releases left
    4      right   ``rf<i>`` releases right
    5      nothing ``think<i>``, local
    ====== ======= ===================

    Every fork has its two philosophers' labels and is free (0), held by the
    philosopher on whose left it lies (1), or held by the other one (2).

    The local states of the philosophers decide those of the forks, and the
    configurations in which no fork is held twice are counted by going round the table:
    there are trace([[3, 3], [2, 1]]^n) of them, with a row or column for a fork that is
    free for the next philosopher and one for a fork that is not.  All but one are
    reachable: before all philosophers hold only the right fork (state 4), the last one
    would hold two forks and the others one each, n+1 in total. That leaves 21 states
    for n = 2, 216,993 for n = 8 and 4,683,381 for n = 10; one of them, all philosophers
    with just their left forks, is a deadlock.

    Acceptance: a philosopher accepts while it holds both forks and has eaten, a
    fork while it is held.  All philosophers would need 2n forks, so no run is
    accepting, though each component alone has accepting runs.

    Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
    Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6 and
    Fig. 11, right.

    Differences from the source: the text does not define the accepting states; the
    choice above is ours.

    Examples
    --------
    >>> [component.name for component in philosophers(2).components]
    ['philosopher0', 'fork0', 'philosopher1', 'fork1']
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    components = []
    for i in range(n):
        components += [_philosopher(i), _fork(i, (i + 1) % n)]
    return Network(components, name=f"philosophers-{n}")


def _philosopher(i: int) -> LTS:
    left, right = f"lf{i}", f"rf{i}"
    steps = [left, right, f"eat{i}", left, right, f"think{i}"]
    return LTS.from_transitions(
        [(state, label, (state + 1) % 6) for state, label in enumerate(steps)],
        accepting=[3],
        name=f"philosopher{i}",
    )


def _fork(i: int, neighbour: int) -> LTS:
    """Build fork `i`: left fork of philosopher `i`, right one of `neighbour`."""
    left, right = f"lf{i}", f"rf{neighbour}"
    return LTS.from_transitions(
        [(0, left, 1), (1, left, 0), (0, right, 2), (2, right, 0)],
        accepting=[1, 2],
        name=f"fork{i}",
    )


def ring(n: int) -> Network:
    """Build a ring of `n` components.

    Parameters
    ----------
    n : int
        Number of components, at least 3.

    Returns
    -------
    Network
        n components with acceptance; no run of it is accepting.

    Raises
    ------
    UnsupportedError
        `n` is less than 3, so that the left and the right neighbour are one.

    Notes
    -----
    A scaling family in which most transitions are internal: component i of
    `ring` (n) leaves its initial state for good by ``enter<i>``, then goes up or
    down through a diamond (``up<i>``, ``down<i>``, ``upjoin<i>``, ``downjoin<i>``)
    and begins again after a meeting with its left neighbour (label ``l<i>``, shared
    with component i-1) or with its right one (``l<i+1>``).

    Local transitions alone lead to every combination of the five local states, so
    5^n states can be reached.  They have n 5^n local transitions (five in every
    component, whatever the others do) and n 5^(n-2) meetings.

    Acceptance: the initial state alone accepts, and no component comes back to it,
    so no run is accepting.

    Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
    Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6 and
    Fig. 11, right.

    Differences from the source: the text defines neither the diamond's states nor the
    accepting states; the choices above are ours.

    Examples
    --------
    >>> ring(3).components[2].labels[-2:]
    ('l2', 'l0')
    """
    if n < 3:
        raise UnsupportedError(f"{n} components make no ring: use n >= 3")
    return Network([_link(i, (i + 1) % n) for i in range(n)], name=f"ring-{n}")


def _link(i: int, neighbour: int) -> LTS:
    return LTS.from_transitions(
        [
            (0, f"enter{i}", 1),
            (1, f"up{i}", 2),
            (1, f"down{i}", 3),
            (2, f"upjoin{i}", 4),
            (3, f"downjoin{i}", 4),
            (4, f"l{i}", 1),
            (4, f"l{neighbour}", 1),
        ],
        accepting=[0],
        name=f"component{i}",
    )


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


_SURE_A, _SURE_B, _UNSURE_A, _UNSURE_B = range(4)


def majority(n: int) -> Network:
    """Build `n` agents that find out what most of them want.

    Agents vote for A or for B.  Two that are sure and differ cancel each other out, and
    are unsure of what they were; who is sure persuades who is unsure of the opposite.
    n // 2 + 1 agents begin as sure of A, the others as sure of B, so some agent is sure
    at any time, and all are never unsure at once: `G !tie` holds.  With a agents for A
    and b for B there are ::

        sum over k < b of C(a, k) C(b, k) 4^k, plus C(a, b) (4^b - 2^b)

    states.

    Source: M. Draief and M. Vojnovic, "Convergence Speed of Binary Interval Consensus",
    SIAM Journal on Control and Optimization 50(3), 2012, pp. 1087-1109.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.

    Examples
    --------
    >>> majority(3).components[0].labels[:3]
    ('tie', 'cancel1_2', 'win1_2')
    """

    def steps(i: int, others: Iterable[int]) -> Steps:
        yield _UNSURE_A, "tie", _UNSURE_A
        yield _UNSURE_B, "tie", _UNSURE_B
        for j in others:
            yield _SURE_A, f"cancel{i}_{j}", _UNSURE_A
            yield _SURE_B, f"cancel{j}_{i}", _UNSURE_B
            yield _SURE_A, f"win{i}_{j}", _SURE_A
            yield _UNSURE_B, f"win{j}_{i}", _UNSURE_A
            yield _SURE_B, f"sway{i}_{j}", _SURE_B
            yield _UNSURE_A, f"sway{j}_{i}", _UNSURE_B

    n_for_a = n // 2 + 1
    agents = _agents(n, steps, lambda i: _SURE_A if i <= n_for_a else _SURE_B)
    return Network(agents, name=f"majority-{n}")


def remainder(n: int) -> Network:
    """Build `n` agents that add up what they hold, modulo 3.

    Agents hold a number from 0 to 2, each 1 in the beginning.  One that holds something
    gives it to another one that does, which adds it modulo 3.  So the sum modulo 3
    stays, and all hold 0 at last only if n is divisible by 3: `G !zero` holds iff it is
    not.

    Source: D. Angluin, J. Aspnes, Z. Diamadi, M. J. Fischer and R. Peralta,
    "Computation in Networks of Passively Mobile Finite-State Sensors", Distributed
    Computing 18(4), 2006, pp. 235-253.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """

    def steps(i: int, others: Iterable[int]) -> Steps:
        yield 0, "zero", 0
        for j in others:
            for given in (1, 2):
                yield given, f"give{given}_{i}_{j}", 0
                for held in (1, 2):
                    yield held, f"give{given}_{j}_{i}", (held + given) % 3

    return Network(_agents(n, steps, lambda _: 1), name=f"remainder-{n}")


def species(n: int) -> Network:
    """Build `n` agents of three species, and the witness.

    Each species feeds on the next one and turns what it catches into its own kind;
    agent i begins as one of species i modulo 3.  The witness notes that the third
    species has died out (``extinct``), which all agents take part in, and whether it
    has caught somebody since (``revived``): `G !revived` holds.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """
    last = 2

    def steps(i: int, others: Iterable[int]) -> Steps:
        for other in range(last):
            yield other, "extinct", other
        for j in others:
            for own in range(3):
                yield own, f"catch{own}_{i}_{j}", own
                yield (own + 1) % 3, f"catch{own}_{j}_{i}", own

    agents = _agents(n, steps, lambda i: i % 3)
    seen, extinct, revived = range(3)
    notes = [(seen, "extinct", extinct), (extinct, "extinct", extinct)]
    notes.append((revived, "revived", revived))
    for i, j in permutations(range(1, n + 1), 2):
        caught = f"catch{last}_{i}_{j}"
        notes += [(seen, caught, seen), (extinct, caught, revived)]
        notes.append((revived, caught, revived))
    witness = LTS.from_transitions(notes, name="witness")
    return Network([*agents, witness], name=f"species-{n}")


def _agents(
    n: int, steps: Callable[[int, list[int]], Steps], initial: Callable[[int], int]
) -> list[LTS]:
    """Build a population, given the steps of agent i with others, and its beginning."""
    if n < 2:
        raise UnsupportedError(f"a population of {n} has no meetings: use n >= 2")
    return [
        LTS.from_transitions(
            list(steps(i, [j for j in range(1, n + 1) if j != i])),
            initial=initial(i),
            name=f"agent{i}",
        )
        for i in range(1, n + 1)
    ]
