"""Times and priorities in PNML files, of nets of both kinds.

TAPAAL and PIPE write intervals, invariants and priorities into all their nets.  They
are read where they say that any age will do and that no transition goes before others,
and refused by name otherwise.
"""

from __future__ import annotations

from typing import Any

from ltlpipe.systems.nets.elements import DRAWN, NetReader

SAME = "priority timed"
"""Labels and attributes in which transitions may not differ."""
TIMELESS_TRANSITION = (
    f"id name priority infiniteServer urgent player=0 distribution value {DRAWN}"
)
"""The attributes of a transition that say nothing but its id and name."""
_ANY_AGE = {"[0,inf)", "[0,inf]"}


class TimelessReader(NetReader):
    """Refuses times, and transitions that go before others."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._first: Any = None  # transition

    def check_order(self, node: Any) -> None:
        """Refuse a transition that differs from the first in what orders them."""
        if self._first is None:
            self._first = node
        for kind in SAME.split():
            said, first = (self.said(n, kind) for n in (node, self._first))
            if said != first:
                told = " and ".join(repr(text or "") for text in (first, said))
                self.unsupported(
                    node,
                    f"transitions that differ in <{kind}>, {told}: expected the same "
                    "for all, since some would go before others",
                )

    def said(self, node: Any, kind: str) -> str | None:
        """Return what a label or an attribute says, None if there is neither."""
        label, text = self.label_text(node, kind), node.get(kind)
        if label is not None and text is not None and label != text.strip():
            self.refuse(node, f"{kind}={text[:40]!r}, but <{kind}> is {label[:40]!r}")
        return label if text is None else text.strip()

    def check_invariant(self, node: Any) -> None:
        """Refuse a place whose tokens may not get older than they like."""
        text = "".join((node.get("invariant") or "< inf").split())
        if text not in ("<inf", "<=inf"):
            self.unsupported(
                node, f"the invariant {text[:40]!r}, expected '< inf': there is no time"
            )

    def is_interval(self, arc: Any) -> bool:
        """Whether the inscription of an arc is an interval of ages: that of all."""
        text = "".join((arc.get("inscription") or "").split())
        if not text.startswith(("[", "(")):
            return False
        ages = text.partition(":")[0]
        if ages not in _ANY_AGE:
            self.unsupported(
                arc,
                f"the interval {ages[:40]!r}, expected '[0,inf)': there is no time",
            )
        return True
