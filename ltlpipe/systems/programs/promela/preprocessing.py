"""Preprocessing of Promela, with a place in the files for every token.

``pcpp`` is the preprocessor.  It knows lines, but no columns, and takes ``??<`` for a
trigraph; so ``??`` is hidden from it, and columns are those of its tokens in the text,
or, of what a macro stands for, of the macro's name.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any

from pcpp import Preprocessor

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import LATIN_1, decode, open_regular
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.promela.syntax import Place
from ltlpipe.systems.programs.promela.tokens import SEPARATOR, Preprocessed

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANDOM, _HIDDEN = "??", "\x01\x01"
_MOST_INCLUDED = 100  # files inside each other
_MOST_EXPANDED = 1 << 20  # tokens, of all levels of macros together
_NAME = re.compile(r"[A-Za-z_]\w*(\(.*\))?")


def preprocess(
    text: str, file: str, defines: Sequence[str] = (), folders: Sequence[str] = ()
) -> Preprocessed:
    """Preprocess a text; files are included from below its folder or the given ones.

    Raises
    ------
    InputError
        A directive is wrong, or a file cannot be included.
    UnsupportedError
        A definition is neither ``NAME`` nor ``NAME=VALUE``.
    """
    preprocessor = _Preprocessor(file, folders)
    preprocessor.begin(text, defines)
    pieces: list[str] = []
    starts: list[int] = []
    places: list[Place] = []
    length = 0
    before: Any = None
    while token := preprocessor.token():
        value = token.value.replace(_HIDDEN, _RANDOM).replace("\x01", "?")
        if _would_join(before, token):
            pieces.append(SEPARATOR)
            length += 1
        starts.append(length)
        places.append(preprocessor.place(token))
        pieces.append(value)
        length += len(value)
        before = token
    return Preprocessed("".join(pieces), starts, places, preprocessor.macros_left())


def included(
    text: str, file: str, defines: Sequence[str] = (), folders: Sequence[str] = ()
) -> list[str]:
    """Return the other files that are opened while a text is preprocessed, in order.

    Where it cannot be preprocessed they are those in front of what is wrong.
    """
    preprocessor = _Preprocessor(file, folders)
    with suppress(InputError, UnsupportedError):
        preprocessor.begin(text, defines)
        while preprocessor.token():
            pass
    return [path for path in preprocessor.lines if path != os.path.abspath(file)]


def _would_join(before: Any, token: Any) -> bool:
    """Whether two tokens that stand side by side by expansion would become one."""
    if before is None or before.value[-1:].isspace() or token.value[:1].isspace():
        return False
    return bool(_origin(before) != _origin(token))


def _origin(token: Any) -> Sequence[str]:
    return getattr(token, "expanded_from", [])


class _Preprocessor(Preprocessor):  # type: ignore[misc]
    def __init__(self, file: str, folders: Sequence[str]) -> None:
        super().__init__()
        self.file = file
        self.expand_countermacro = False
        own = os.path.dirname(os.path.abspath(file))
        self.allowed = [os.path.realpath(f) for f in (own, *folders)]
        for folder in folders:
            self.add_path(folder)
        self.rewrite_paths: list[Any] = []
        self.lines: dict[str, list[str]] = {}
        self.offsets: dict[str, list[int]] = {}
        self.n_expanded = 0
        self.reached = ("", 0, 0)  # file, line and column of the last token

    def begin(self, text: str, defines: Sequence[str]) -> None:
        """Take in a text, with macros defined in front of it."""
        for given in defines:
            self.define("{} {}".format(*_definition_of(given)))
        self.parse(text.replace(_RANDOM, _HIDDEN), self.file)
        self.keep(text, self.file)

    def keep(self, text: str, path: str) -> None:
        """Remember the lines of a file, as pcpp numbers its characters."""
        path = os.path.abspath(path)
        if path not in self.lines:
            self.lines[path] = lines = [line.rstrip() for line in text.splitlines()]
            self.offsets[path] = offsets = [0]
            for line in lines:
                offsets.append(offsets[-1] + len(line) + 1)

    def place(self, token: Any) -> Place:
        """Return where a token stands, or the macro that it comes from."""
        path, line = token.source or os.path.abspath(self.file), token.lineno
        after = self.reached[2] if self.reached[:2] == (path, line) else 0
        macros = _origin(token)
        if macros:
            lines = self.lines[path]
            written = lines[line - 1] if line <= len(lines) else ""
            found = re.compile(rf"\b{macros[-1]}\b").search(written, max(after - 1, 0))
            column = found.start() + 1 if found else max(after, 1)
        else:
            offsets = self.offsets[path]
            number = bisect_right(offsets, token.lexpos)
            line, column = number, token.lexpos - offsets[number - 1] + 1
        self.reached = (path, line, column)
        return Place(self._shown(path), line, column)

    def _shown(self, path: str) -> str:
        """Return a file as the caller named it; others beside it."""
        if path == os.path.abspath(self.file):
            return self.file
        own = os.path.dirname(self.file)
        return os.path.join(own, os.path.relpath(path, os.path.abspath(own)))

    def macros_left(self) -> dict[str, str]:
        """Return the texts of the macros without parameters, expanded."""
        left = {}
        for name, macro in list(self.macros.items()):
            if macro.arglist is None or (not macro.arglist and not macro.value):
                tokens = self.expand_macros(self.tokenize(name))
                text = "".join(token.value for token in tokens)
                left[name] = text.replace("\x01", "?")
        return left

    # What pcpp calls.

    def expand_macros(self, tokens: Any, expanding_from: Sequence[str] = ()) -> Any:
        found = super().expand_macros(tokens, [*expanding_from])
        self.n_expanded += len(found) if expanding_from else 0
        if self.n_expanded > _MOST_EXPANDED:
            token = found[0]
            message = f"macros stand for more than {_MOST_EXPANDED} tokens"
            self.on_error(getattr(token, "source", ""), token.lineno, message)
        return found

    def on_error(self, file: str, line: int, msg: str) -> None:
        message = msg[:1].lower() + msg[1:]
        shown = self._shown(file) if file else self.file
        raise InputError(f"preprocessing: {message}", file=shown, line=line or None)

    def on_file_open(self, _is_system: bool, path: str) -> Any:
        real = os.path.realpath(path)
        if not any(real.startswith(folder + os.sep) for folder in self.allowed):
            if not os.path.exists(path):
                raise FileNotFoundError(path)
            self._refuse(f"{path} is outside of the folder of the model")
        if self.include_depth > _MOST_INCLUDED:
            self._refuse(f"more than {_MOST_INCLUDED} files include each other")
        with open_regular(path) as stream:
            text = complete(decode([stream.read()], self._shown(path), LATIN_1))
        self.keep(text, path)
        return StringIO(text.replace(_RANDOM, _HIDDEN))

    def on_include_not_found(
        self,
        _malformed: bool,
        _is_system: bool,
        _folder: str,
        path: str,
    ) -> None:
        self._refuse(f"cannot include {path!r}: no such file")

    def on_directive_handle(
        self, directive: Any, toks: Any, ifpassthru: Any, precedingtoks: Any
    ) -> Any:
        self.directive = directive
        needs = {"define", "undef", "ifdef", "ifndef", "if", "elif", "include"}
        if directive.value in needs and not toks:
            self._refuse(f"nothing behind #{directive.value}")
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(
        self, directive: Any, toks: Any, _ifpassthru: Any, _precedingtoks: Any
    ) -> bool:
        self.directive = directive
        marks_a_line = directive.value.isdigit()  # as ``gcc -E`` and ``spin -f`` write
        if marks_a_line or directive.value in ("ident", "pragma", "line", "warning"):
            return True
        text = "".join(token.value for token in toks)
        unknown = "" if directive.value == "error" else "unknown directive "
        self._refuse(f"{unknown}#{directive.value} {text}".rstrip())
        return True

    def on_unknown_macro_in_defined_expr(self, _tok: Any) -> bool:
        return False  # as in C: what is not defined is not

    def on_unknown_macro_in_expr(self, _ident: Any) -> int:
        return 0

    def on_comment(self, tok: Any) -> bool:
        # A comment is a blank, with the lines that it has.
        del tok
        return False

    def _refuse(self, message: str) -> None:
        directive = self.directive
        self.on_error(directive.source, directive.lineno, message)


def _definition_of(text: str) -> tuple[str, str]:
    """Return name and value of a macro that is given as ``NAME`` or ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"--define={text!r}: expected NAME or NAME=VALUE")
    return name, value if equals else "1"
