"""The control flow of a proctype: places, and the statements that lead between them.

What is no step of its own leaves no trace: a label, ``->``, a ``goto`` or ``break``
behind another statement, unless a block in braces begins with it.  A choice whose first
statement is a choice again has all of its statements at one place, as in Spin, each
``else`` behind the others of its choice; a choice that is a ``goto`` or ``break`` alone
is a step.

A statement inside ``atomic`` or ``d_step`` *keeps* control if what comes next is
inside, too, and no jump outside leads there.  A jump that leads out of ``atomic`` or to
its last statement, and the end of a choice or ``unless`` behind which it ends or that
follows, are steps inside, as in Spin, which does not mark that statement as one inside:
whoever has given control away before, to a receiver, stops in front of them.
``unless`` escapes from jumps, but not from the end of a choice with ``if`` or of
another ``unless``.

Behind a move that keeps control no state is stored.  So where only one move is possible
there, whatever the state, it is appended to the move before it (`fused`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.systems.programs.program import ATOMIC, D_STEP
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.systems.programs.program import Transition

_MOST_JUMPS = 500  # one behind the other, as in Spin
_CIRCLE = "jumps lead in a circle without a step"


@dataclass(eq=False)
class Node:
    """A place between statements, or a label that stands for one."""

    edges: list[Edge] = field(default_factory=list)
    link: Point | None = None  # of a label
    place: syntax.Place | None = None  # of a label
    jump: Point | None = None  # where its only step leads, which is a jump
    is_last: bool = False  # whether its only step is the last one of an ``atomic``
    number: int = -1  # from 1 on, if it can be reached; 0 is no process


class Point(NamedTuple):
    """A place, and what control is kept by who gets there from nearby."""

    node: Node
    level: int  # 0, ATOMIC or D_STEP

    @property
    def there(self) -> Point:
        """The place that a label stands for."""
        point = self
        for _ in range(_MOST_JUMPS):
            if (link := point.node.link) is None:
                return point
            point = Point(link.node, min(point.level, link.level))
        assert self.node.place is not None
        raise input_error(_CIRCLE, self.node.place)

    @property
    def resolved(self) -> Point:
        """The place behind jumps that are no steps."""
        point = self.there
        for _ in range(_MOST_JUMPS):
            jump = point.node.jump
            if jump is None or (point.level == ATOMIC and not jump.there.keeps):
                return point
            point = jump.there
        raise input_error(_CIRCLE, point.node.edges[0].step.place)

    @property
    def keeps(self) -> bool:
        """Whether control is kept behind the step at a place."""
        point = self if self.node.jump is None else self.node.jump.there
        return point.level == ATOMIC and not self.node.is_last


@dataclass(frozen=True, eq=False)
class Edge:
    """A statement that leads from one place to another."""

    step: syntax.Step
    after: Point
    level: int  # what it is inside of
    escapes: tuple[Point, ...] = ()
    """Where the escapes begin of each ``unless`` around it, the outermost first."""
    rivals: tuple[Edge, ...] | None = None
    """At the beginning of a ``d_step``, the statements that it would rather begin with:
    it is one step, and takes the first that can be executed."""

    @property
    def target(self) -> Node:
        """The place behind it."""
        return self.after.resolved.node

    @property
    def starts(self) -> bool:
        """Whether it starts a process."""
        return any(isinstance(node, syntax.Run) for node in syntax.nodes_in(self.step))

    @property
    def keeps(self) -> int:
        """Whether control is kept behind it."""
        return self.after.resolved.level if self.level else 0


class _Around(NamedTuple):
    """What a statement is inside of."""

    level: int = 0
    leave: Point | None = None  # where ``break`` leads
    escapes: tuple[Point, ...] = ()
    begins: bool = False  # whether a block in braces begins with it

    def within(self, block: syntax.Statement, *, is_first: bool) -> _Around:
        """Return it for a statement of a sequence, or behind a label."""
        is_block = isinstance(block, (syntax.Sequence, syntax.Atomic))
        is_block = is_block and not getattr(block, "deterministic", False)
        return self._replace(begins=is_block or (is_first and self.begins))


class Flow:
    """The control flow of one proctype.

    Attributes
    ----------
    nodes : list of Node
        The places that can be reached; their numbers begin with 1, the first one's.
    end : Node
        The place behind the last statement.
    labels : dict
        The place of each label.
    kept : set of Node
        Places to which a process can come with control.
    """

    def __init__(self, body: syntax.Sequence) -> None:
        self._labels: dict[str, Node] = {}
        self.end = Node()
        begin = self._before(body, Point(self.end, 0), _Around()).resolved.node
        self.nodes = [begin]
        begin.number = 1
        for node in self.nodes:  # which grows meanwhile
            for edge in leaving(node):
                if edge.target.number < 0:
                    self.nodes.append(edge.target)
                    edge.target.number = len(self.nodes)
        self.kept = {e.target for n in self.nodes for e in leaving(n) if e.keeps}
        self.labels = {
            name: Point(node, 0).resolved.node
            for name, node in self._labels.items()
            if node.link is not None
        }

    def _label(self, name: str) -> Node:
        return self._labels.setdefault(name, Node())

    def _aim(self, statement: syntax.Goto | syntax.Break, around: _Around) -> Point:
        """Return the place to which a jump leads."""
        if isinstance(statement, syntax.Goto):
            return Point(self._label(statement.label), around.level)
        assert around.leave is not None
        return around.leave

    def _before(
        self, statement: syntax.Statement, after: Point, around: _Around
    ) -> Point:
        """Return the place before a statement."""
        if isinstance(statement, (syntax.Goto, syntax.Break)):
            return _jump(statement, self._aim(statement, around), around)
        if isinstance(statement, syntax.Sequence):
            for place, part in reversed([*enumerate(statement.statements)]):
                inner = around.within(part, is_first=place == 0)
                after = self._before(part, after, inner)
                if isinstance(part, (syntax.Sequence, syntax.Atomic)):
                    after = _entrance(part, after)
            return after
        if isinstance(statement, syntax.Labelled):
            node = self._label(statement.label)
            node.place = statement.place
            own = statement.statement
            inner = around.within(own, is_first=True)
            if isinstance(own, syntax.Unless):
                inner = inner._replace(begins=True)
            node.link = self._before(own, after, inner)
            if isinstance(own, (syntax.Sequence, syntax.Atomic, syntax.Unless)):
                node.link = _entrance(own, node.link)
            return node.link
        if isinstance(statement, syntax.Choice):
            return self._choice(statement, after, around)
        if isinstance(statement, syntax.Atomic):
            return self._atomic(statement, after, around)
        if isinstance(statement, syntax.Unless):
            return self._before(statement.body, *self._within(statement, after, around))
        edge = Edge(statement, after, around.level, around.escapes)
        is_last = around.level == ATOMIC > after.level and not around.begins
        return Point(Node([edge], is_last=is_last), around.level)

    def _within(
        self, statement: syntax.Unless, after: Point, around: _Around
    ) -> tuple[Point, _Around]:
        """Return what is behind and around the body of an ``unless``."""
        apart = around._replace(begins=False)
        end = apart._replace(escapes=())
        after = _jump(syntax.Break(statement.place, "}"), after, end)
        escape = self._before(statement.escape, after, apart)
        return after, around._replace(escapes=(*around.escapes, escape))

    def _choice(self, statement: syntax.Choice, after: Point, around: _Around) -> Point:
        point = Point(Node(), around.level)
        around = around._replace(begins=False)
        end = around if statement.repeats else around._replace(escapes=())
        closing = "od" if statement.repeats else "fi"
        after = _jump(syntax.Break(statement.place, closing), after, end)
        if statement.repeats:
            around, after = around._replace(leave=after), point
        for option in sorted(statement.options, key=_begins_with_else):
            point.node.edges += self._first(option, after, around)
        return point

    def _atomic(self, statement: syntax.Atomic, after: Point, around: _Around) -> Point:
        inner = around
        if around.level != D_STEP:
            level = D_STEP if statement.deterministic else ATOMIC
            inner = around._replace(level=level)
        if statement.deterministic:
            inner = inner._replace(escapes=())
        node = self._before(statement.body, after, inner).node
        if inner.level != around.level and statement.deterministic:
            edges: list[Edge] = []
            for edge in _without_jumps(node.edges):
                rivals = tuple(edges)
                edges.append(replace(edge, escapes=around.escapes, rivals=rivals))
            is_last = around.level == ATOMIC > after.level and not around.begins
            node = Node(edges, node.link, is_last=is_last)
        return Point(node, around.level)

    def _first(
        self, statement: syntax.Statement, after: Point, around: _Around
    ) -> list[Edge]:
        """Return what a statement begins with, as statements of a choice."""
        if isinstance(statement, syntax.Sequence):
            first, *rest = statement.statements
            tail = syntax.Sequence(statement.place, tuple(rest))
            return self._first(first, self._before(tail, after, around), around)
        if isinstance(statement, (syntax.Goto, syntax.Break)):
            aim = self._aim(statement, around)
            return [Edge(statement, aim, around.level, around.escapes)]
        if isinstance(statement, syntax.Unless):
            return self._first(statement.body, *self._within(statement, after, around))
        point = self._before(statement, after, around)
        while point.node.link is not None:
            point = point.node.link
        return list(point.node.edges)


def _jump(step: syntax.Goto | syntax.Break, to: Point, around: _Around) -> Point:
    """Return the place before a jump.

    It is passed unless it leads out of ``atomic``, or a block begins with it.
    """
    edge = Edge(step, to, around.level, around.escapes)
    if around.begins and around.level != D_STEP:
        return Point(Node([edge]), around.level)
    if around.level != ATOMIC:
        return to
    return Point(Node([edge], jump=to), around.level)


def _without_jumps(edges: list[Edge]) -> list[Edge]:
    """Return how a ``d_step`` begins: in Spin with no jump, if there are other ways."""
    if len(edges) < 2:
        return edges
    return [e for e in edges if not isinstance(e.step, (syntax.Goto, syntax.Break))]


def _entrance(
    block: syntax.Sequence | syntax.Atomic | syntax.Unless, begin: Point
) -> Point:
    """Return the place before a block in braces.

    It is another one than that of a loop with which the block begins, as in Spin; of
    an ``unless`` only behind a label.
    """
    first: syntax.Statement = block
    while isinstance(first, (syntax.Sequence, syntax.Atomic, syntax.Unless)):
        body = first if isinstance(first, syntax.Sequence) else first.body
        first = body.statements[0] if isinstance(body, syntax.Sequence) else body
    if isinstance(first, syntax.Choice) and first.repeats:
        return Point(Node(list(begin.resolved.node.edges)), begin.level)
    return begin


def _begins_with_else(option: syntax.Sequence) -> bool:
    statement: syntax.Statement = option
    while isinstance(statement, (syntax.Sequence, syntax.Labelled)):
        if isinstance(statement, syntax.Sequence):
            statement = statement.statements[0]
        else:
            statement = statement.statement
    return isinstance(statement, syntax.Else)


def leaving(node: Node) -> Iterator[Edge]:
    """Yield the statements at a place, those that escape from it first."""
    for begin in escaping(node.edges):
        yield from begin.edges
    yield from node.edges


def escaping(edges: Iterable[Edge], seen: set[Node] | None = None) -> Iterator[Node]:
    """Yield where the escapes from statements begin, those from escapes first."""
    seen = set() if seen is None else seen
    for edge in edges:
        for escape in edge.escapes:
            begin = escape.resolved.node
            if begin not in seen:
                seen.add(begin)
                yield from escaping(begin.edges, seen)
                yield begin


def names_of_places(flow: Flow, prefix: str) -> list[str]:
    """Return names for the places of a proctype: labels, or lines of statements."""
    labels = {node: name for name, node in reversed(flow.labels.items())}
    names: list[str] = []
    for node in flow.nodes:
        if node in labels:
            name = labels[node]
        elif node is flow.end:
            name = "-end-"
        else:
            name = str(node.edges[0].step.place.line)
        names.append(_unused(prefix + name, names))
    return names


def _unused(name: str, taken: Iterable[str]) -> str:
    """Return a name with a number behind it if it is taken."""
    known = set(taken)
    if name not in known:
        return name
    number = 2
    while f"{name}.{number}" in known:
        number += 1
    return f"{name}.{number}"


_LONGEST = 100


def fused(
    transitions: Sequence[Transition], begin: int
) -> list[tuple[Transition, Transition]]:
    """Append to the transitions of a process what they are always followed by.

    Parameters
    ----------
    transitions : sequence of Transition
        Those of a proctype in a slot.
    begin : int
        The place where its processes begin.

    Returns
    -------
    list of (Transition, Transition)
        Those that can still be taken, and what each has been made of first.
    """
    leaving: dict[int, list[Transition]] = defaultdict(list)
    for transition in transitions:
        leaving[transition.source].append(transition)
    made = {t: _followed(t, leaving) for t in transitions}
    reached, places = {begin}, [begin]
    for place in places:  # which grows meanwhile
        for transition in leaving[place]:
            target = made[transition].target
            if target not in reached:
                reached.add(target)
                places.append(target)
    return [(new, old) for old, new in made.items() if old.source in reached]


def _followed(
    transition: Transition, leaving: dict[int, list[Transition]]
) -> Transition:
    sends = transition.message is not None and transition.message.sends
    if sends:  # control goes to the receiver
        return transition
    effects, texts, last = list(transition.effects), [transition.text], transition
    while last.keeps and len(texts) < _LONGEST:
        following = leaving[last.target]
        if len(following) != 1:
            break
        (after,) = following
        if after.conditions or after.message or after.start or len(after.exchange) > 1:
            break
        effects += (*after.exchange, *after.effects)
        texts.append(after.text.partition(": ")[2])
        last = after
    if last is transition:
        return transition
    text = "; ".join(texts)
    return replace(
        transition,
        target=last.target,
        keeps=last.keeps,
        effects=tuple(effects),
        text=text,
    )
