"""Whether the forms of a certificate are a reduction: decided by the definitions.

Words and divergences are compared by subsets: of the states that the parts can be in
after a word, and of those that the form can be in.  For steps, the image has to be a
simulation, in which both sides offer the same where states may repeat themselves.
"""

from __future__ import annotations

from itertools import product

from ltlpipe import LTS, Network
from ltlpipe.components.alphabet import trim
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.interruptible import is_interruptible
from ltlpipe.runtime.jobs import run

SILENT = None


def searched_network(network, parts):
    """The network that the forms make; None if that may not take the system's place."""
    header = parts.header
    told = header["reduction"]
    if network.has_acceptance or header["fairness"]:
        return None
    formula = None if header["formula"] is None else parse(header["formula"])
    visible = set() if formula is None else set(formula.propositions)
    if told["keeps"] == "words" and (
        header["deadlock"] != "ignore"
        or formula is None
        or not is_interruptible(formula)
    ):
        return None
    users = {a.name: set(a.participants) for a in network.actions if not a.internal}
    before = run(trim(network)) if told["trimmed"] else network
    places = {
        i: (_steps_of(lts), lts.n_states, lts.initial, _alphabet(lts), {i})
        for i, lts in enumerate(before.components)
    }
    number = len(network.components)
    for form, (steps, image) in zip(told["forms"], parts.forms, strict=True):
        labels = form["labels"]
        named = [(s, [*labels, SILENT][a], d) for s, a, d in steps]
        own = [places.pop(part, None) for part in form["parts"]]
        if None in own:
            return None
        members = set().union(*(place[4] for place in own))
        alphabet = set().union(*(place[3] for place in own))
        hidden = alphabet - set(labels)
        if not set(labels) <= alphabet or hidden & visible:
            return None
        if any(not users[label] <= members for label in hidden):
            return None
        made = (named, form["states"], form["initial"], set(labels), members)
        if told["keeps"] == "words":
            if not _includes(made, _composed(own), hidden):
                return None
        elif not _simulates(made, own[0], hidden, image, header["deadlock"]):
            return None
        places[number] = made
        number += 1
    if any(place < len(network.components) for place in places):
        return None
    components = [
        LTS.from_transitions(
            [(s, "silent" if a is SILENT else a, d) for s, a, d in steps],
            initial=initial,
            n_states=n_states,
            internal=["silent"],
        )
        for steps, n_states, initial, _, _ in (places[k] for k in sorted(places))
    ]
    alphabets = [places[k][3] for k in sorted(places)]
    return Network(
        [_with(lts, own) for lts, own in zip(components, alphabets, strict=True)]
    )


def _with(lts, alphabet):
    """A component with labels that no transition has."""
    more = sorted(alphabet - set(lts.labels))
    return LTS(
        lts.n_states,
        lts.initial,
        (*lts.labels, *more),
        lts.src,
        lts.label,
        lts.dst,
        lts.internal,
    )


def _alphabet(lts):
    return set(lts.labels) - lts.internal


def _steps_of(lts):
    return [(s, SILENT if a in lts.internal else a, d) for s, a, d in lts.transitions()]


def _composed(parts):
    """The composition of one or two parts, over pairs."""
    if len(parts) == 1:
        return parts[0]
    (one, n, start, alphabet, _), (other, m, begin, beta, _) = parts
    steps = []
    for (s, a, d), (t, b, e) in product(one, other):
        if a == b and a in alphabet & beta:
            steps.append(((s, t), a, (d, e)))
    steps += [((s, t), a, (d, t)) for s, a, d in one if a not in beta for t in range(m)]
    steps += [
        ((s, t), b, (s, e)) for t, b, e in other if b not in alphabet for s in range(n)
    ]
    return steps, None, (start, begin), alphabet | beta, None


def _includes(form, parts, hidden):
    """Whether words and divergences of the parts are those of the form."""
    inner = [(s, SILENT if a in hidden else a, d) for s, a, d in parts[0]]
    letters = {a for _, a, _ in inner} - {SILENT}
    start = _closed(inner, {parts[2]}), _closed(form[0], {form[2]})
    known, waiting = {start}, [start]
    while waiting:
        here, there = waiting.pop()
        if _diverges(inner, here) and not _diverges(form[0], there):
            return False
        for letter in letters:
            after = _closed(
                inner, {d for s, a, d in inner if s in here and a == letter}
            )
            if not after:
                continue
            goal = _closed(
                form[0], {d for s, a, d in form[0] if s in there and a == letter}
            )
            if not goal:
                return False
            if (after, goal) not in known:
                known.add((after, goal))
                waiting.append((after, goal))
    return True


def _closed(steps, states):
    """The states that silent steps lead to from some."""
    found = set(states)
    while more := {d for s, a, d in steps if a is SILENT and s in found} - found:
        found |= more
    return frozenset(found)


def _diverges(steps, states):
    """Whether silent steps can go on for ever from one of some closed states."""
    left = set(states)
    while True:
        alive = {s for s, a, d in steps if a is SILENT and s in left and d in left}
        if alive == left:
            return bool(left)
        left = alive


def _simulates(form, part, hidden, image, deadlock):
    """Whether the image of a state can follow its steps."""
    steps = {(s, a, d) for s, a, d in form[0]}
    if image[part[2]] != form[2]:
        return False
    inner = [(s, SILENT if a in hidden else a, d) for s, a, d in part[0]]
    for s, a, d in inner:
        if image[s] < form[1] and (image[s], a, image[d]) not in steps:
            return False
    return deadlock == "ignore" or all(
        {a for s, a, _ in inner if s == state} == {a for s, a, _ in steps if s == at}
        for state, at in enumerate(image)
        if at < form[1]
    )
