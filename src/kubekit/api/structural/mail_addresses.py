"""Mail addresses as RFC 5322 writes them, read as leniently as Kubernetes reads them."""

import re
from typing import Final

from kubekit.api.structural.addresses import is_ip

_ATOM: Final = re.compile(r'[^\x00-\x20\x7f()\[\];@\\,<>":]+')
_QUOTED: Final = re.compile(r'"((?:[^\x00-\x08\x0a-\x1f\x7f"\\]|\\[^\x00-\x08\x0a-\x1f\x7f])*)"')
_LITERAL: Final = re.compile(r"\[([^\x00-\x20\x7f\[\]\\]*)\]")
_SPACE: Final = re.compile(r"[ \t]*")


def is_email(text: str) -> bool:
    """One address, with or without a name: ``a@b``, ``Ann <a@b>``, ``friends: a@b;``."""
    reader = _Reader(text)
    return reader.address(groups=True) == 1 and reader.skip_comments() and reader.is_done()


class _Reader:
    """Reads a text from left to right. A method returns None or false if it cannot read its part."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def is_done(self) -> bool:
        return self._at == len(self._text)

    def address(self, *, groups: bool) -> int | None:
        """The number of addresses in the next one: a group may have several, or none."""
        self._skip_space()
        if self._spec():
            self._skip_space()
            return 1 if not self._is_next("(") or self._comment() else None
        if not self._is_next("<") and not self._phrase():
            return None
        self._skip_space()
        if groups and self._take(":"):
            return self._group()
        return 1 if self._take("<") and self._spec() and self._take(">") else None

    def skip_comments(self) -> bool:
        """Whether nothing but spaces and whole comments was skipped."""
        self._skip_space()
        while self._is_next("("):
            if not self._comment():
                return False
            self._skip_space()
        return True

    def _group(self) -> int | None:
        count = 0
        self._skip_space()
        if self._take(";"):
            return 0
        while True:
            addresses = self.address(groups=False)
            if addresses is None or not self.skip_comments():
                return None
            count += addresses
            if self._take(";"):
                return count
            if not self._take(","):
                return None

    def _spec(self) -> bool:
        """Whether ``local@domain`` was read. If not, the position is unchanged."""
        start = self._at
        self._skip_space()
        local = self._quoted() or self._dotted()
        if local and self._take("@") and self._domain():
            return True
        self._at = start
        return False

    def _domain(self) -> bool:
        self._skip_space()
        literal = self._match(_LITERAL)
        if literal is not None:
            return is_ip(literal[1])
        return self._dotted()

    def _phrase(self) -> bool:
        """Whether there was at least one word. A phrase may also be empty where the text ends."""
        words = 0
        while True:
            if words and not self.skip_comments():
                return False
            self._skip_space()
            if self.is_done():
                return True
            quoted = self._match(_QUOTED) if self._is_next('"') else self._match(_ATOM)
            if quoted is None:
                return words > 0
            words += 1

    def _dotted(self) -> bool:
        atom = self._match(_ATOM)
        return atom is not None and all(atom[0].split("."))

    def _quoted(self) -> bool:
        match = self._match(_QUOTED)
        return match is not None and bool(match[1])

    def _comment(self) -> bool:
        """Whether a comment was read to its end; comments nest."""
        depth = 0
        while not self.is_done():
            letter = self._text[self._at]
            self._at += 1 + (letter == "\\")
            depth += (letter == "(") - (letter == ")")
            if not depth:
                return True
        return False

    def _skip_space(self) -> None:
        self._match(_SPACE)

    def _match(self, form: re.Pattern[str]) -> re.Match[str] | None:
        match = form.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match

    def _is_next(self, letter: str) -> bool:
        return self._text.startswith(letter, self._at)

    def _take(self, letter: str) -> bool:
        taken = self._is_next(letter)
        self._at += taken
        return taken
