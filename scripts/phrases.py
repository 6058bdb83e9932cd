"""Find phrases that a native engineer would not write, each with a better one.

python scripts/phrases.py
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("ltlpipe", "docs", "tests", "benchmarks", "README.md", "CONTRIBUTING.md")
PHRASES = {
    "what people call places": "display names of places",
    "what is wrong with a certificate": "reasons to refuse a certificate",
    "which steps of a state are enough": "dispatch between ample and stubborn sets",
    "which states before a step may be": "predecessors of a symbolic state",
    "what is left of a set of markings": "difference of two symbolic markings",
    "that its violation does not need are left out": "slicing of counterexamples",
    "searches over bits": "bitstate searches",
    "search over bits": "bitstate search",
    "is all one": "is irrelevant",
    "is none for plain python": "is too large for the plain-Python search",
    "has waited has the turns": "is granted the turns that it missed",
    "at any price": "force",
    "at_any_price": "force",
    "would take for formulas": "escaping of CSV cells against formula injection",
    "round and round": "a lasso: k prefix steps and a cycle of c steps",
    "so many bits of a hash": "an N-bit hash",
    "its last state for ever": "stutters in its last state",
}


CLAUSE = re.compile(r'\A"""((?:What|Which|Where|How|Who|Whether|When) .*)')
"""A module docstring that begins with a clause in place of a noun."""


def found(path: Path) -> list[str]:
    """Return a message for each phrase in a file; line breaks count as blanks."""
    text = path.read_text(encoding="utf-8")
    messages = []
    for phrase, better in PHRASES.items():
        words = r"\s+".join(map(re.escape, phrase.split()))
        for match in re.finditer(words, text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            place = f"{path.relative_to(ROOT)}:{line}"
            messages.append(f"{place}: {phrase!r}; better: {better!r}")
    if path.is_relative_to(ROOT / "ltlpipe") and (clause := CLAUSE.match(text)):
        name = f"{path.relative_to(ROOT)}:1"
        messages.append(f"{name}: {clause[1]!r}; better: a noun, 'Reasons to ...'")
    return messages


def main() -> int:
    """Print what is found; the exit code is 1 if anything is."""
    files = [ROOT / room for room in ROOMS if (ROOT / room).is_file()]
    for room in ROOMS:
        files += [p for p in (ROOT / room).rglob("*") if p.suffix in (".py", ".md")]
    messages = [message for path in sorted(files) for message in found(path)]
    print(*messages, sep="\n", end="\n" * bool(messages), file=sys.stderr)
    return int(bool(messages))


if __name__ == "__main__":
    sys.exit(main())
