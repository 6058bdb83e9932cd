r"""Java programs of the RERS challenge, rewritten as C programs of the challenge.

Each construct has its counterpart in C on the same line, so one parser and its grammar
(`ltlpipe.systems.programs.eca.syntax`) serve both.  A string has one letter, which
becomes its number: 1 to 26 for capitals, inputs and outputs; for small letters 28 and
so on, as in the C programs, where "e" is 32.  Numbers wrap round in Java as they do in
what is read of C, and a division by zero or an index out of range ends the run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.programs.eca.syntax import READING

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

# What has no end of its own is bounded: a text that never ends it is read once.
_CLASS = re.compile(r"\bclass\s{1,99}\w{1,999}[^{};]{0,999}\{")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)

_REWRITTEN = [
    (re.compile(pattern), c)
    for pattern, c in (
        (r"\b(?:import|package)\s[^;]{0,999};", ""),
        (
            r"\bclass\s{1,99}Errors\s{0,99}\{[^{}]{0,999}\{[^{}]{0,999}\}[^{}]{0,999}\}",
            "",
        ),
        (r"\bstatic\s{1,99}BufferedReader\s[^;]{0,999};", ""),
        (
            r"\bpublic\s{1,99}static\s{1,99}void\s{1,99}main\s{0,99}\([^()]{0,999}\)",
            "int main()",
        ),
        (r"\b(?:public|private|static|final)\s", " "),
        (r"\bthrows\s+Exception\b", ""),
        (r"\b(?:int|String)\s*\[\]\s*(\w+)\s*=\s*\{", r"int \1[] = {"),
        (r"\bint\s*\[\]\s*(\w+)\s*=\s*(\w+)\s*;", r"int *\1 = \2;"),
        (r"\b(?:boolean|String)\b", "int"),
        (r"\bcalculateOutput", "calculate_output"),
        (r'\b(\w+)\.equals\(\s*("\w"|\w+\[\d+\])\s*\)', r"(\1 == \2)"),
        (r"\bSystem\.out\.println\(", r'printf("%d\\n", '),
        (
            r'\bthrow\s{1,99}new\s{1,99}IllegalArgumentException\(\s*"[^"]{0,999}"\s*\)',
            'fprintf(stderr, "", input)',
        ),
        (
            r"\bthrow\s{1,99}new\s{1,99}IllegalStateException\([^;]{0,999}\)",
            "__VERIFIER_error(0)",
        ),
        (r"\bErrors\.__VERIFIER_error\b", "__VERIFIER_error"),
        (r"\btrue\b", "1"),
        (r"\bfalse\b", "0"),
        (r"\bcf\b(?!\s*=[^=])", "(cf == 1)"),
    )
]


def as_c(text: str, file: str) -> Job[str]:
    """Return a program in C with the lines of one in Java.

    Raises
    ------
    InputError
        There is something else than one class; names file and line.
    """
    for pattern, c in _REWRITTEN:
        text = pattern.sub(lambda m, c=c: m.expand(c) + "\n" * m[0].count("\n"), text)  # type: ignore[misc]
        yield Progress(READING, len(text) / 50, 3 * len(text))
    text = re.sub(r'"([A-Za-z])"', _number, text)
    begin, end = _CLASS.search(text), text.rfind("}")
    if begin is None:
        raise InputError("expected 'public class NAME {'", file=file)
    for outside, place in ((text[: begin.start()], 0), (text[end + 1 :], end + 1)):
        bare = _COMMENT.sub(_without_comment, outside)
        if found := re.search(r"\S+", bare):
            line = 1 + text.count("\n", 0, place) + bare.count("\n", 0, found.start())
            message = f"expected one class and nothing else, found {found[0]!r}"
            raise InputError(message, file=file, line=line)
    functions = re.findall(r"\bvoid\s+(\w+)\s*\(", text)
    prototypes = "".join(f"void {name}(int);" for name in functions)
    lines = "\n" * text.count("\n", 0, begin.end())
    return prototypes + lines + text[begin.end() : end]


def _number(letter: re.Match[str]) -> str:
    return str(ord(letter[1]) - (64 if letter[1].isupper() else 69))


def _without_comment(found: re.Match[str]) -> str:
    """Return the lines of a comment, or what begins one that does not end."""
    is_whole = found[0].startswith("//") or found[0].endswith("*/")
    return "\n" * found[0].count("\n") if is_whole else found[0]
