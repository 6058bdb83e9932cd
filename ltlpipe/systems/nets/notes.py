"""What a PNML file says about a net beside its places, transitions and arcs.

- *Final markings*, in ``<finalmarkings>`` as ProM and PM4Py write them.  A place that
  a marking does not name is empty.
- *Invisible* transitions, which have no action: those whose ``activity`` ProM calls
  ``$invisible$``, and those that are called so, or ``tau`` or ``silent``.
- *Units* of a nested-unit Petri net, and whether the file asserts that they are safe:
  then at most one place of a unit has a token, and one only.

Source: H. Garavel, "Nested-Unit Petri Nets", Journal of Logical and Algebraic Methods
in Programming 104, 2019, pp. 60-85, Sec. 7 (the tool-specific section of a PNML file).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.files import local_name
from ltlpipe.systems.nets.structure import Notes, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.systems.nets.elements import NetReader
    from ltlpipe.systems.plain import Plain

INVISIBLE = frozenset({"$invisible$", "tau", "silent"})
"""What transitions without an action are called."""

_NUPN = "nupn"


def is_invisible(node: Any, name: str) -> bool:
    """Whether the element of a transition that is called `name` says that it is so."""
    said = {name}
    for child in node:
        if local_name(child) == "toolspecific":
            said.add(child.get("activity") or "")
    return not INVISIBLE.isdisjoint(said)


def noted(reader: Any, net: Any, number: Mapping[str, int]) -> Plain:
    """Return what the element of a net says, as plain data; `number` is of places."""
    transitions = {own: k for k, own in enumerate(reader.transitions)}
    units, safe = _units_of(reader, number)
    return {
        "final": _final_markings(reader, net, number),
        "invisible": [transitions[own] for own in reader.invisible],
        "units": units,
        "safe": safe,
        "refined": sorted(reader.refined),
    }


def notes_of(plain: Plain) -> Notes:
    """Return what `noted` has returned."""
    return Notes(
        tuple(tuple((p, n) for p, n in marking) for marking in plain["final"]),
        frozenset(plain["invisible"]),
        _units(plain["units"]),
        plain["safe"],
        tuple(plain["refined"]),
    )


def _final_markings(reader: NetReader, net: Any, number: Mapping[str, int]) -> Plain:
    """Return the final markings: lists of a place and its tokens."""
    markings = []
    for group in net.getparent().iter("{*}finalmarkings"):
        for marking in group:
            kind = reader.expect(marking, ["marking"], "<marking> in <finalmarkings>")
            tokens: dict[int, int] = {}
            for place in marking:
                reader.expect(place, ["place"], f"<place> in <{kind}>")
                own = place.get("idref") or ""
                if own not in number:
                    reader.refuse(place, f"no place has the id {own!r}")
                if number[own] in tokens:
                    reader.refuse(place, f"the place {own!r} again in a marking")
                what = f"tokens of {own!r}"
                texts = [t for t in place if local_name(t) in {"text", "value"}]
                text = (texts[0].text or "").strip() if texts else "1"
                tokens[number[own]] = reader.numeral(place, text, 0, what)
            markings.append([[p, n] for p, n in tokens.items() if n])
    return markings


def _units_of(reader: NetReader, number: Mapping[str, int]) -> tuple[Plain, bool]:
    """Return the units of a nested-unit net, and whether they are said to be safe."""
    for tool in reader.tools:
        if (tool.get("tool") or "").lower() != _NUPN:
            continue
        for structure in tool.iter("{*}structure"):
            units = list(structure.iter("{*}unit"))
            own = {unit.get("id") or "": k for k, unit in enumerate(units)}
            found = [
                [
                    unit.get("id") or "",
                    _numbers(reader, unit, "places", number),
                    _numbers(reader, unit, "subunits", own),
                ]
                for unit in units
            ]
            _check_nesting(reader, structure, found)
            safe = structure.get("safe") == "true"
            if safe:
                _check_tokens(reader, structure, found)
            return found, safe
    return [], False


def _check_nesting(reader: NetReader, structure: Any, units: Plain) -> None:
    """Refuse a place or unit in two units, and units in a circle."""
    for what, column in (("place", 1), ("unit", 2)):
        parts = Counter(part for unit in units for part in unit[column])
        if any(times > 1 for times in parts.values()):
            reader.refuse(structure, f"a {what} is in two units")
    inner = {part for unit in units for part in unit[2]}
    waiting = [k for k in range(len(units)) if k not in inner]
    for k in waiting:
        waiting += units[k][2]
    if len(waiting) < len(units):
        reader.refuse(structure, "units are inside one another in a circle")


def _check_tokens(reader: NetReader, structure: Any, units: Plain) -> None:
    """Refuse safe units whose places have several tokens initially."""
    tokens = list(reader.places.values())
    for own in Notes(units=_units(units)).exclusive:
        if sum(tokens[place] for place in own) > 1:
            name = next(unit[0] for unit in units if own[0] in unit[1])
            reader.refuse(structure, f"the unit {name!r} is said to be safe, but its "
                          "places and those around it have several tokens")  # fmt: skip


def _units(plain: Plain) -> tuple[Unit, ...]:
    return tuple(Unit(own, tuple(p), tuple(u)) for own, p, u in plain)


def _numbers(
    reader: NetReader, unit: Any, kind: str, number: Mapping[str, int]
) -> list[int]:
    """Return the numbers of the ids in an element of a unit."""
    numbers = []
    for child in unit.iter(f"{{*}}{kind}"):
        for own in (child.text or "").split():
            if own not in number:
                reader.refuse(child, f"{own!r} in <{kind}> of a unit is unknown")
            numbers.append(number[own])
    return numbers
