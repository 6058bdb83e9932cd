"""Decoupled search as its paper states it, on frozen sets: slow and plain.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021, Def. 3-5 and Fig. 7.

A decoupled state is a tuple with a frozenset of local states per component.  A split
one has a frozenset of pairs (reference state, local state reached from it) instead,
so that "dominates" (Sec. 4.2) is inclusion for both.

Places where the source leaves a choice, or where this differs:

- Global labels are those of two participants or more; labels of one participant,
  and those that never synchronise, are internal (Sec. 2).  A component without
  acceptance has accepting states only.
- A reference state from which nothing is reached any more leaves no trace in a set
  of pairs.  R(t) of Sec. 4.2 keeps it, so that fewer states are dominated; the
  proof of Theorem 4 needs only those that still reach something.  With
  `all_references` the text is taken literally.
- The root of a nested search is not entered among the visited split states (Sec.
  4.2, remark on Fig. 6), and not looked up there.
- A split state is tested for a cycle before it is looked up among the visited ones.
- The state from which a nested search starts counts as being on the stack (Lemma 1).
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count, product
from typing import NamedTuple

import numpy as np

from ltlpipe.verdict.lasso import Lasso


class Found(NamedTuple):
    """How a search ended with a cycle."""

    by: str  # "local", "references" or "stack"
    lasso: Lasso


class Composition:
    """The decoupled composition of a network (Def. 3)."""

    def __init__(self, network):
        self.network = network
        actions = list(enumerate(network.actions))
        self.global_actions = [i for i, a in actions if len(a.participants) > 1]
        index = {(p, a.name): i for i, a in actions for p in a.participants}
        self.steps = []  # per component: (src, action) -> [dst]
        self.internal = []  # per component: src -> [(action, dst)]
        self.accepting = []
        for p, component in enumerate(network.components):
            steps, internal = {}, {s: [] for s in range(component.n_states)}
            for src, label, dst in component.transitions():
                action = index[p, label]
                if len(network.actions[action].participants) > 1:
                    steps.setdefault((src, action), []).append(dst)
                else:
                    internal[src].append((action, dst))
            self.steps.append(steps)
            self.internal.append(internal)
            flags = component.accepting
            everything = range(component.n_states)
            self.accepting.append(
                frozenset(s for s in everything if flags is None or flags[s])
            )

    def iclose(self, i, states):
        """The states that component i reaches by internal transitions."""
        reached, frontier = set(states), list(states)
        while frontier:
            for _, dst in self.internal[i][frontier.pop()]:
                if dst not in reached:
                    reached.add(dst)
                    frontier.append(dst)
        return frozenset(reached)

    def on_internal_cycle(self, i, state):
        """Whether a local state reaches itself by internal transitions."""
        return state in self.iclose(i, [dst for _, dst in self.internal[i][state]])

    @property
    def initial(self):
        """The initial decoupled state."""
        return tuple(
            self.iclose(i, [c.initial]) for i, c in enumerate(self.network.components)
        )

    def image(self, i, states, action):
        """Where component i gets from some states by a label and internal ones."""
        if i not in self.network.actions[action].participants:
            return frozenset(states)
        return self.iclose(
            i, {d for s in states for d in self.steps[i].get((s, action), ())}
        )

    def successors(self, state):
        """The decoupled transitions, in the order of the actions."""
        for action in self.global_actions:
            sets = tuple(self.image(i, s, action) for i, s in enumerate(state))
            if all(sets):
                yield action, sets

    def accepts(self, state):
        """Whether a decoupled state is accepting."""
        return all(s & a for s, a in zip(state, self.accepting, strict=True))

    def split(self, state):
        """The acceptance split of a decoupled state (Def. 4)."""
        return tuple(
            frozenset((r, s) for r in sets & accepting for s in self.iclose(i, [r]))
            for i, (sets, accepting) in enumerate(
                zip(state, self.accepting, strict=True)
            )
        )

    def split_successors(self, split):
        """The split transitions (Def. 5), in the order of the actions."""
        for action in self.global_actions:
            pairs = tuple(
                frozenset(
                    (r, dst)
                    for r in {r for r, _ in part}
                    for dst in self.image(i, {s for q, s in part if q == r}, action)
                )
                for i, part in enumerate(split)
            )
            if all(pairs):
                yield action, pairs

    def reachable(self):
        """The decoupled states that a search with exact duplicates alone meets."""
        known, frontier = {self.initial}, [self.initial]
        while frontier:
            for _, state in self.successors(frontier.pop()):
                if state not in known:
                    known.add(state)
                    frontier.append(state)
        return known


def overall(split):
    """The local states that each component reaches from any reference state."""
    return tuple(frozenset(s for _, s in part) for part in split)


def includes(large, small):
    """Whether one decoupled or split state dominates another."""
    return all(s <= t for s, t in zip(small, large, strict=True))


class Members:
    """The members of visited boxes."""

    def __init__(self):
        self.visited = set()

    def new_in(self, box):
        """The smallest box around the new members of one, or None; they are visited."""
        new = set(product(*box)) - self.visited
        self.visited |= new
        return tuple(map(frozenset, zip(*new, strict=True))) if new else None


class _FoundError(Exception):
    pass


class Search:
    """The nested depth-first search of Fig. 7.

    `stack` adds the test of Lemma 1.  `events` lists what happened, in order:
    ("visit" | "prune" | "nested" | "split" | "prune-split", state).
    """

    def __init__(self, network, *, stack=False, all_references=False):
        self.composition = Composition(network)
        self.stack_test = stack
        self.all_references = all_references
        self.visited = []
        self.visited_split = []  # pairs (reference states, split state)
        self.path = []  # decoupled states on the stack
        self.labels = []  # global actions between them
        self.events = []
        self.n_roots = 0
        self.n_split = 0  # split states generated and not pruned, without roots
        self.found = None

    def run(self):
        """Search; the answer is what was found, or None."""
        try:
            self.path.append(self.composition.initial)
            self._dfs(self.composition.initial)
        except _FoundError:
            pass
        return self.found

    def explored(self):
        """The decoupled states that dominance leaves, without any acceptance."""
        self.path = [self.composition.initial]
        self._dfs(self.composition.initial, judging=False)
        return self.visited

    def _report(self, by, lasso):
        self.found = Found(by, lasso)
        raise _FoundError

    def _dfs(self, state, *, judging=True):
        composition = self.composition
        self.events.append(("visit", state))
        self.visited.append(state)
        accepting = judging and composition.accepts(state)
        if accepting:
            self._check_local_accept(state)
        for action, successor in composition.successors(state):
            if any(includes(known, successor) for known in self.visited):
                self.events.append(("prune", successor))
                continue
            self.path.append(successor)
            self.labels.append(action)
            self._dfs(successor, judging=judging)
            self.path.pop()
            self.labels.pop()
        if accepting:
            root = composition.split(state)
            self.n_roots += 1
            self.events.append(("nested", root))
            references = tuple(frozenset(r for r, _ in part) for part in root)
            self._nested(root, references, [])

    def _nested(self, split, references, trace):
        for action, successor in self.composition.split_successors(split):
            extended = [*trace, action]
            self._judge(successor, extended)
            if any(
                includes(known, successor)
                and (not self.all_references or includes(others, references))
                for others, known in self.visited_split
            ):
                self.events.append(("prune-split", successor))
                continue
            self.events.append(("split", successor))
            self.n_split += 1
            self.visited_split.append((references, successor))
            self._nested(successor, references, extended)

    def _judge(self, split, trace):
        """Report the cycle that a split state closes, if it does."""
        own = [{r for r, s in part if r == s} for part in split]
        if all(own):
            self.events.append(("split", split))
            self.n_split += 1
            start = [min(states) for states in own]
            self._report("references", self._lasso(start, trace))
        if self.stack_test:
            reached = overall(split)
            for depth, state in enumerate(self.path):
                if includes(reached, state):
                    self.events.append(("split", split))
                    self.n_split += 1
                    self._report("stack", self._stack_lasso(depth, trace))

    def _check_local_accept(self, state):
        composition = self.composition
        for i, (sets, accepting) in enumerate(
            zip(state, composition.accepting, strict=True)
        ):
            for local in sorted(sets & accepting):
                if composition.on_internal_cycle(i, local):
                    goal = [
                        min(s & a)
                        for s, a in zip(state, composition.accepting, strict=True)
                    ]
                    goal[i] = local
                    self._report("local", self._local_lasso(i, goal))

    # Lassos (Sec. 4.3, last paragraphs)

    def _local_lasso(self, i, goal):
        run = self._run_to(goal)
        k = len(run.actions)
        state = goal[i]
        for action, dst in self.composition.internal[i][state]:
            path = local_paths(self.composition, i, dst, state, [])
            if path is not None:
                run.move(action, {i: dst})
                for local_action, local in path[0]:
                    run.move(local_action, {i: local})
                return run.lasso(k)
        raise AssertionError

    def _run_to(self, goal):
        initial = [c.initial for c in self.composition.network.components]
        run = Run(self.composition.network, initial)
        run.follow(self.composition, goal, self.labels)
        return run

    def _lasso(self, start, trace):
        run = self._run_to(start)
        k = len(run.actions)
        run.follow(self.composition, start, trace)
        return run.lasso(k)

    def _stack_lasso(self, depth, trace):
        """Walk back from a state of the stack until one comes again (Lemma 1)."""
        state = tuple(min(s) for s in self.path[depth])
        walk = [state]
        seconds = []  # the accepting state before each of `walk`, but the last
        while True:
            before = [
                self._back(i, depth, trace, local) for i, local in enumerate(state)
            ]
            seconds.append([accepting for _, accepting in before])
            state = tuple(first for first, _ in before)
            if state in walk:
                break
            walk.append(state)
        turn = walk.index(state)
        rounds = [*reversed(walk[turn:])]  # the order in which the run meets them
        middles = [*reversed(seconds[turn:])]
        full = self.labels
        self.labels = full[:depth]
        run = self._run_to(state)
        self.labels = full
        k = len(run.actions)
        for middle, end in zip(middles, rounds, strict=True):
            run.follow(self.composition, middle, self.labels[depth:])
            run.follow(self.composition, end, trace)
        return run.lasso(k)

    def _back(self, i, depth, trace, local):
        """A state of the stack and an accepting one on the way to `local`."""
        composition = self.composition
        for first in sorted(self.path[depth][i]):
            for middle in sorted(self.path[-1][i] & composition.accepting[i]):
                there = local_paths(composition, i, first, middle, self.labels[depth:])
                if there is not None and local_paths(
                    composition, i, middle, local, trace
                ):
                    return first, middle
        raise AssertionError


def local_paths(composition, i, src, dst, trace):
    """A run of one component along global labels, or None.

    Per label, and once more at the end, the internal steps [(action, local state)]
    before it; the label's own step is the last of its list.
    """
    start = (0, src)
    came = {start: None}
    frontier = [start]
    for at in count():
        if at == len(frontier):
            return None
        position, state = frontier[at]
        if (position, state) == (len(trace), dst):
            break
        options = [(a, (position, d)) for a, d in composition.internal[i][state]]
        if position < len(trace):
            action = trace[position]
            if i in composition.network.actions[action].participants:
                targets = composition.steps[i].get((state, action), ())
            else:
                targets = [state]
            options += [(action, (position + 1, d)) for d in targets]
        for action, place in options:
            if place not in came:
                came[place] = ((position, state), action)
                frontier.append(place)
    parts = [[] for _ in range(len(trace) + 1)]
    place = (len(trace), dst)
    while came[place] is not None:
        before, action = came[place]
        parts[before[0]].insert(0, (action, place[1]))
        place = before
    return parts


class Run:
    """A run of the network that grows at its end."""

    def __init__(self, network, initial):
        self.network = network
        self.states = [list(initial)]
        self.actions = []

    def move(self, action, moved):
        """Take one step, which moves some components."""
        state = list(self.states[-1])
        for i, local in moved.items():
            state[i] = local
        self.states.append(state)
        self.actions.append(action)

    def follow(self, composition, goal, trace):
        """Lead every component to its goal along the same global labels."""
        parts = [
            local_paths(composition, i, src, dst, trace)
            for i, (src, dst) in enumerate(zip(self.states[-1], goal, strict=True))
        ]
        for k in range(len(trace) + 1):
            together = {}
            for i, part in enumerate(parts):
                steps = list(part[k])
                if k < len(trace):
                    together[i] = steps.pop()[1]
                for action, local in steps:
                    self.move(action, {i: local})
            if k < len(trace):
                self.move(trace[k], together)

    def lasso(self, k):
        """The run as a lasso whose prefix has k steps."""
        names = [self.network.actions[a].name for a in self.actions]
        return Lasso(
            prefix=names[:k],
            cycle=names[k:],
            actions=np.array(self.actions, dtype=np.int32),
            states=np.array(self.states, dtype=np.int32),
        )


class LargestFirst(Search):
    """The search as it is: largest boxes first, inner searches as soon as can be.

    With `covering` a state is left out if all of its members have been visited, and
    else becomes the smallest box around those that have not; the initial state alone
    has no members, but dominates.
    """

    def __init__(self, network, *, stack=False, covering=False):
        super().__init__(network, stack=stack)
        self.covering = covering
        self.members, self.pairs = Members(), Members()

    def run(self):
        """Search; the answer is what was found, or None."""
        with suppress(_FoundError):
            self._outside()
        return self.found

    def explored(self):
        """The decoupled states that are entered, without any acceptance."""
        self._outside(judging=False)
        return self.visited

    def _outside(self, *, judging=True):
        composition, visited = self.composition, self.visited
        visited.append(composition.initial)
        waiting = [(composition.initial, [composition.initial], [])]
        while waiting:
            state, self.path, self.labels = largest(waiting)
            if not self.covering and superseded(state, visited):
                continue
            if judging and composition.accepts(state):
                self._check_local_accept(state)
                self._inside(composition.split(state))
            for action, successor in composition.successors(state):
                new = self._new(successor, self.members, visited, visited[:1])
                if new is not None:
                    visited.append(new)
                    waiting.append((new, [*self.path, new], [*self.labels, action]))

    def _inside(self, root):
        visited = self.visited_split
        root = self._new(root, self.pairs, visited, [])
        if root is None:
            return
        self.n_roots += 1
        visited.append(root)
        waiting = [(root, [])]
        while waiting:
            split, trace = largest(waiting)
            if not self.covering and superseded(split, visited):
                continue
            for action, successor in self.composition.split_successors(split):
                self._judge(successor, [*trace, action])
                new = self._new(successor, self.pairs, visited, [])
                if new is not None:
                    visited.append(new)
                    waiting.append((new, [*trace, action]))

    def _new(self, state, members, visited, dominating):
        """What is left of a state; None if nothing is."""
        if self.covering:
            state = members.new_in(state)
        known = dominating if self.covering else visited
        if state is None or any(includes(one, state) for one in known):
            return None
        return state


def largest(waiting):
    """Take the largest box, of several the last one."""
    sizes = [sum(map(len, entry[0])) for entry in waiting]
    most = max(sizes)
    return waiting.pop(max(k for k, size in enumerate(sizes) if size == most))


def superseded(state, visited):
    """Whether a visited box includes one and is larger."""
    return any(includes(one, state) and one != state for one in visited)


class NaiveSearch(Search):
    """The adaptation of Sec. 4.1: nested searches prune without reference states.

    What closes a cycle is still that references reach themselves, along the path
    of the search.
    """

    def _nested(self, split, references, trace):
        for action, successor in self.composition.split_successors(split):
            own = [{r for r, s in part if r == s} for part in successor]
            extended = [*trace, action]
            if all(own):
                start = [min(states) for states in own]
                self._report("references", self._lasso(start, extended))
            reached = overall(successor)
            if any(includes(known, reached) for _, known in self.visited_split):
                self.events.append(("prune-split", successor))
                continue
            self.events.append(("split", successor))
            self.visited_split.append((references, reached))
            self._nested(successor, references, extended)


def intersects_stack(network):
    """Whether Sec. 4.1, change (3), taken by its word, reports a cycle.

    A nested search in decoupled states reports one when it meets a state that
    has a member in common with one on the stack.
    """
    search = _IntersectingSearch(network)
    try:
        search.path.append(search.composition.initial)
        search._dfs(search.composition.initial)
    except _FoundError:
        return True
    return False


class _IntersectingSearch(NaiveSearch):
    def _nested(self, split, references, trace):
        for action, successor in self.composition.split_successors(split):
            reached = overall(successor)
            if any(
                all(s & t for s, t in zip(reached, state, strict=True))
                for state in self.path
            ):
                raise _FoundError
            if any(includes(known, reached) for _, known in self.visited_split):
                continue
            self.visited_split.append((references, reached))
            self._nested(successor, references, [*trace, action])
