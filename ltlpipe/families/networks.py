"""Scaling families, random networks and their runs.  Begin with `philosophers`.

`coloured_client_server` (n, m) is a net: n clients, each of which idles, waits for a
server or is served, by m servers that serve one client at a time: the sum over k of
C(n, k) m!/(m-k)! 2^(n-k) markings.

`majority`, `remainder` and `species` are populations of agents that meet two by two:
systems that only symmetry makes small.  Any agent can meet any other one, and a meeting
changes what both are in.  No step is internal, every two agents have actions in common,
and a group of agents that has been composed still has to tell its members apart, since
each of them can meet each of the others.  So neither ample sets nor decoupling,
factoring or composition make the system smaller, while agents are interchangeable: what
counts is how many are in which state.  The global actions `tie`, `zero` and `extinct`
only serve to ask for what never happens; agents that agree do not meet.

`random_network` draws networks of Büchi automata.  Every component is a random graph in
which every state can be reached from the initial one if synchronisation is left aside;
a given share of its transitions is local.  The same arguments give the same network, on
any machine, as long as NumPy's `default_rng` keeps its stream.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6
(components of 15 to 100 states, up to 3 % of them and at least one accepting,
a ratio of local transitions, no internal accepting cycle; 150 networks for each
of 2 to 8 components and each ratio of 0 %, 20 %, ..., 80 %).

Differences from the source: it fixes neither the number of transitions nor
that of labels: `OUT_DEGREE` is ours, the other a parameter.  The ratio of local
transitions is met in every component, up to rounding and two exceptions, which
`random_network` and `OUT_DEGREE` name (with the numbers of the source and the seeds 0
to 149 it is off by more than 0.03 in 4 of 26,250 components, by 0.06 at most).

`random_lassos` draws runs.  A random walk is the prefix.  For the cycle only a few
random components continue, until their joint state repeats: they have few joint states,
so that happens soon, unlike for a whole network.  So all but a few components starve:
each run shows actions that can happen up to some moment and then never again.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, permutations, product
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.logic.words import Word
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Every,
    Guard,
    Multiset,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.propositions.letters import MAX_PROPOSITIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

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


ColouredSides = tuple[Mapping[str, Multiset], Mapping[str, Multiset], Guard]


def coloured_client_server(n: int, m: int) -> ColouredNet:
    """Build the symmetric net of `n` clients and `m` servers.

    Raises
    ------
    UnsupportedError
        There is no client or no server.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    c, s = Bound(0, 0, n), Bound(1, 0, m)
    client, server, both = one(c), one(s), one(c, s)
    return coloured_net(
        f"coloured-client-server-{n}-{m}",
        [enumeration("client", n), enumeration("server", m)],
        {"c": 0, "s": 1},
        {
            "idle": ((0,), one(Every(n))),
            "waiting": ((0,), EMPTY),
            "served": ((0, 1), EMPTY),
            "free": ((1,), one(Every(m))),
        },
        {
            "ask": ({"idle": client}, {"waiting": client}, TRUE),
            "serve": ({"waiting": client, "free": server}, {"served": both}, TRUE),
            "answer": ({"served": both}, {"idle": client, "free": server}, TRUE),
        },
    )


def one(*entries: Bound | Constant | Every) -> Tokens:
    """Return one token of these colours."""
    return Tokens(1, entries)


def enumeration(name: str, n: int, *, kind: str = ENUMERATION, first: int = 1) -> Sort:
    """Return a sort whose colours are called by numbers."""
    names = tuple(str(k) for k in range(first, first + n))
    return Sort(name, name, kind, tuple(f"{name}{k}" for k in names), names)


def coloured_net(
    name: str,
    sorts: list[Sort],
    variables: dict[str, int],
    places: dict[str, tuple[tuple[int, ...], Multiset]],
    moves: dict[str, ColouredSides],
) -> ColouredNet:
    """Return a net whose nodes are known by their names."""
    numbers = {place: k for k, place in enumerate(places)}
    transitions = []
    for own, (*sides, guard) in moves.items():
        pre, post = (tuple((numbers[p], x) for p, x in s.items()) for s in sides)
        transitions.append(ColouredTransition(own, own, guard, pre, post))
    return ColouredNet(
        name,
        tuple(sorts),
        tuple(Variable(own, own, sort) for own, sort in variables.items()),
        tuple(ColouredPlace(own, own, *about) for own, about in places.items()),
        tuple(transitions),
    )


def priorities(n: int, m: int) -> str:
    """Return priorities of clients for `coloured_client_server` (n, m), as HOA.

    The net treats all clients alike.  The constraint says which of them goes first:
    client c is served only while no client before it waits.  So the asymmetry concerns
    one transition, and is on the side of the property.

    It has one state.  Its label has a proposition for each client that can be before
    another one, ``waiting.c==1``, and one for each client that can be behind another
    one and each server, ``action=="serve.c.s"``.

    Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata
    using Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4 (asymmetries as
    constraints) and its introduction (clients that differ in priority when they access
    the server).

    Raises
    ------
    UnsupportedError
        There is no client or no server, or so many that a property cannot name them.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    served = list(product(range(2, n + 1), range(1, m + 1)))
    n_propositions = n - 1 + len(served)
    if n_propositions > MAX_PROPOSITIONS:
        raise UnsupportedError(
            f"priorities of {n} clients and {m} servers have {n_propositions} "
            f"propositions, the limit is {MAX_PROPOSITIONS}: use fewer"
        )
    names = [f"waiting.{c}==1" for c in range(1, n)]
    names += [f'action==\\"serve.{c}.{s}\\"' for c, s in served]
    rules = []
    for client in range(2, n + 1):
        own = [n - 1 + k for k, (c, _) in enumerate(served) if c == client]
        sides = ("&".join(f"!{k}" for k in some) for some in (own, range(client - 1)))
        rules.append("(({})|({}))".format(*sides))
    propositions = " ".join([str(n_propositions), *(f'"{name}"' for name in names)])
    return f"""\
HOA: v1
name: "client c is served while none of 1 to c - 1 waits, {n} clients"
States: 1
Start: 0
AP: {propositions}
acc-name: all
Acceptance: 0 t
--BODY--
State: 0
[{"&".join(rules) or "t"}] 0
--END--
"""


OUT_DEGREE = 2
"""Transitions that leave a local state on average; a component has a few more where
its shared labels need them."""


def random_network(
    n_components: int,
    *,
    seed: int,
    n_states: tuple[int, int] = (15, 100),
    local_ratio: float = 0.4,
    accepting_ratio: float = 0.03,
    n_labels: int = 2,
    sharing: tuple[int, int] = (2, 2),
) -> Network:
    """Draw a network of Büchi automata.

    Parameters
    ----------
    n_components : int
        At least 2, so that labels can be shared.
    seed : int
        Not negative; decides, with the other arguments, the whole network.
    n_states : tuple of int
        Least and greatest number of local states of a component.
    local_ratio : float
        Local transitions per transition of a component, 0 <= ratio < 1.  A
        component has fewer where they would close an internal accepting cycle.
    accepting_ratio : float
        Upper bound of the accepting states per state; one accepts anyway.
    n_labels : int
        Shared labels per component that begin with it; it also takes part in
        those that begin with others.
    sharing : tuple of int
        Least and greatest number of components that share a label, at least
        2; (2, 2) is what `to_promela` can write.

    Returns
    -------
    Network
        With acceptance.  The shared labels are ``g0``, ``g1``, ..., the local
        ones of component i ``t<i>_0``, ``t<i>_1``, ....

    Raises
    ------
    UnsupportedError
        An argument is out of its range.

    Examples
    --------
    >>> network = random_network(3, seed=7)
    >>> network == random_network(3, seed=7)
    True
    """
    _check(n_components, n_states, sharing, local_ratio)
    if seed < 0:
        raise UnsupportedError(f"seed {seed} is negative: use 0 or more")
    if n_labels < 1:
        raise UnsupportedError(f"{n_labels} labels per component: use 1 or more")
    if not 0 <= accepting_ratio <= 1:
        raise UnsupportedError(f"accepting ratio {accepting_ratio}: use 0 to 1")
    rng = np.random.default_rng(seed)
    components = []
    for i, alphabet in enumerate(_share_labels(rng, n_components, n_labels, sharing)):
        size = int(rng.integers(*n_states, endpoint=True))
        accepting = _draw_accepting(rng, size, accepting_ratio)
        pairs = _draw_pairs(rng, size)
        local = _choose_local(rng, pairs, local_ratio, accepting)
        missing = len(alphabet) + len(local) - len(pairs)
        pairs += rng.integers(size, size=(max(0, missing), 2)).tolist()
        components.append(
            LTS.from_transitions(
                _label(rng, pairs, local, alphabet, f"t{i}_"),
                n_states=size,
                accepting=np.flatnonzero(accepting).tolist(),
                name=f"random{i}",
            )
        )
    return Network(components, name=f"random-{n_components}-{seed}")


def _check(
    n_components: int,
    n_states: tuple[int, int],
    sharing: tuple[int, int],
    local_ratio: float,
) -> None:
    if n_components < 2:
        raise UnsupportedError(f"{n_components} components share no label: use >= 2")
    if not 1 <= n_states[0] <= n_states[1]:
        raise UnsupportedError(f"{n_states} is not a range of at least 1 state")
    if not 2 <= sharing[0] <= sharing[1]:
        raise UnsupportedError(f"{sharing} is not a range of at least 2 components")
    if not 0 <= local_ratio < 1:
        raise UnsupportedError(f"local ratio {local_ratio}: use 0 <= ratio < 1")


def _share_labels(
    rng: np.random.Generator, n: int, n_labels: int, sharing: tuple[int, int]
) -> list[list[str]]:
    """Return the shared labels of each of `n` components, each at least `n_labels`."""
    alphabets: list[list[str]] = [[] for _ in range(n)]
    for number in range(n * n_labels):
        owner = number % n
        size = int(rng.integers(*sharing, endpoint=True))
        others = rng.choice(n - 1, min(size, n) - 1, replace=False)
        for i in [owner, *((owner + 1 + others) % n).tolist()]:
            alphabets[i].append(f"g{number}")
    return alphabets


def _draw_accepting(rng: np.random.Generator, size: int, ratio: float) -> np.ndarray:
    """Return bool[size], true for 1 up to ``ratio * size`` random states."""
    most = max(1, int(ratio * size))
    accepting = np.zeros(size, dtype=np.bool_)
    number = int(rng.integers(1, most, endpoint=True))
    accepting[rng.choice(size, number, replace=False)] = True
    return accepting


def _draw_pairs(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Return [src, dst] of a random graph whose states all follow from 0.

    A random tree reaches every state, the other pairs are drawn freely.
    """
    pairs = [[int(rng.integers(dst)), dst] for dst in range(1, size)]
    n_free = max(1, OUT_DEGREE * size - len(pairs))
    free: list[list[int]] = rng.integers(size, size=(n_free, 2)).tolist()
    return pairs + free


def _choose_local(
    rng: np.random.Generator, pairs: list[list[int]], ratio: float, avoid: np.ndarray
) -> set[int]:
    """Return the indices of random pairs, `ratio` of them if so many can be taken.

    Passed over are those that would close a cycle of taken pairs through a
    state of `avoid`, bool[size].
    """
    quota = round(ratio * len(pairs))
    closure = np.eye(len(avoid), dtype=np.bool_)  # [a, b]: taken pairs lead a to b
    chosen: set[int] = set()
    for k in rng.permutation(len(pairs)).tolist():
        if len(chosen) == quota:
            break
        src, dst = pairs[k]
        before, after = closure[:, src], closure[dst]
        if not (before & after & avoid).any():
            chosen.add(k)
            closure |= np.outer(before, after)
    return chosen


def _label(
    rng: np.random.Generator,
    pairs: list[list[int]],
    local: set[int],
    shared: list[str],
    prefix: str,
) -> list[tuple[int, str, int]]:
    """Return transitions: the pairs of `local` get one of four labels of their own.

    The others, at least as many as there are `shared` labels, get each of
    those once, then any.  Duplicates are dropped.
    """
    first = iter(rng.permutation(shared).tolist())
    transitions = []
    for k, (src, dst) in enumerate(pairs):
        if k in local:
            label = f"{prefix}{rng.integers(4)}"
        else:
            label = next(first, "") or shared[int(rng.integers(len(shared)))]
        transitions.append((src, label, dst))
    return list(dict.fromkeys(transitions))


State = tuple[int, ...]

MOST_MOVING = 3
"""Components that take part in a cycle, at most."""


class Walker:
    """Steps through a network in random directions.

    Parameters
    ----------
    network : Network
        It is not changed.
    """

    def __init__(self, network: Network) -> None:
        self._actions = network.actions
        self.initial: State = tuple(c.initial for c in network.components)
        # by component and state: the targets of each action
        self._targets: list[list[dict[int, list[int]]]] = []
        parts = zip(network.components, network.label_actions, strict=True)
        for component, numbers in parts:
            number = dict(zip(component.labels, numbers, strict=True))
            targets: list[dict[int, list[int]]] = [
                {} for _ in range(component.n_states)
            ]
            for src, label, dst in component.transitions():
                targets[src].setdefault(number[label], []).append(dst)
            self._targets.append(targets)

    def enabled(self, state: State, among: Collection[int]) -> list[int]:
        """Return the actions that some components can take without the others."""
        willing: dict[int, int] = {}
        for i in among:
            for action in self._targets[i][state[i]]:
                willing[action] = willing.get(action, 0) + 1
        return [
            k for k, n in willing.items() if n == len(self._actions[k].participants)
        ]

    def step(self, state: State, action: int, rng: np.random.Generator) -> State:
        """Return where an enabled action leads to, at random if to several states."""
        after = list(state)
        for i in self._actions[action].participants:
            targets = self._targets[i][state[i]][action]
            after[i] = targets[int(rng.integers(len(targets)))]
        return tuple(after)

    def walk(
        self, start: State, rng: np.random.Generator, steps: int
    ) -> tuple[list[int], list[State]]:
        """Return the actions of a walk and their targets, in order.

        It has `steps` of them, fewer if it ends in a deadlock.
        """
        actions: list[int] = []
        states: list[State] = []
        everyone = range(len(self._targets))
        state = start
        while len(actions) < steps and (enabled := self.enabled(state, everyone)):
            actions.append(enabled[int(rng.integers(len(enabled)))])
            state = self.step(state, actions[-1], rng)
            states.append(state)
        return actions, states

    def lasso(self, rng: np.random.Generator, steps: int) -> Word | None:
        """Return a run with a prefix of at most `steps`.

        None if the chosen components find no cycle.
        """
        prefix, states = self.walk(self.initial, rng, steps)
        length = int(rng.integers(len(prefix), endpoint=True))
        prefix = prefix[:length]
        state = states[length - 1] if length else self.initial
        n = len(self._targets)
        n_moving = int(rng.integers(1, min(n, MOST_MOVING), endpoint=True))
        moving = rng.choice(n, n_moving, replace=False).tolist()
        seen = {state: 0}
        cycle: list[int] = []
        while enabled := self.enabled(state, moving):
            cycle.append(enabled[int(rng.integers(len(enabled)))])
            state = self.step(state, cycle[-1], rng)
            if state in seen:
                k = seen[state]
                return Word(self._names(prefix + cycle[:k]), self._names(cycle[k:]))
            seen[state] = len(cycle)
        return None

    def _names(self, actions: list[int]) -> tuple[str, ...]:
        return tuple(self._actions[k].name for k in actions)


def random_lassos(
    network: Network, n: int, *, rng: np.random.Generator, steps: int
) -> list[Word]:
    """Return up to n random runs, from the initial state; fewer if many walks fail.

    Parameters
    ----------
    network : Network
        Without internal labels that a formula could mistake for actions.
    n : int
        How many.
    rng : Generator
        Decides all of them.
    steps : int
        Length of the longest prefix; each run has a random one up to that, or up to
        where its walk ends in a deadlock.
    """
    walker = Walker(network)
    tries = (walker.lasso(rng, steps) for _ in range(10 * n))
    return list(islice(filter(None, tries), n))
