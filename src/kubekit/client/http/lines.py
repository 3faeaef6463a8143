"""The lines of a stream that arrives in pieces of any size.

A line within one piece is a view of it: nothing is copied. Only a line that continues in the next
piece is buffered, and each of its bytes is scanned once.
"""

from typing import Final

from kubekit.client.http.failures import AttemptFailure

_BLANKS: Final = b" \t\r"


class LineTooLong(AttemptFailure):
    """A line is longer than the limit."""


class LineSplitter:
    """Splits pieces into lines without line ends. Blank lines are left out."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._partial = bytearray()

    @property
    def has_partial_line(self) -> bool:
        """Whether a line has started that has not ended."""
        return not _is_blank(memoryview(self._partial))

    def feed(self, piece: bytes) -> list[memoryview]:
        """The lines that end in this piece."""
        lines: list[memoryview] = []
        view = memoryview(piece)
        start, end = 0, piece.find(b"\n")
        if self._partial and end >= 0:
            line, self._partial = self._partial, bytearray()
            line += view[:end]
            self._add(lines, memoryview(line))
            start, end = end + 1, piece.find(b"\n", end + 1)
        while end >= 0:
            self._add(lines, view[start:end])
            start, end = end + 1, piece.find(b"\n", end + 1)
        self._partial += view[start:]
        self._check(len(self._partial))
        return lines

    def _add(self, lines: list[memoryview], line: memoryview) -> None:
        self._check(len(line))
        if not _is_blank(line):
            lines.append(line)

    def _check(self, length: int) -> None:
        if length > self._longest:
            raise LineTooLong(f"a line of the stream has more than {self._longest} bytes")


def _is_blank(line: memoryview) -> bool:
    # A line that is not blank starts with a brace, so no more of it is scanned.
    return not line or (line[0] in _BLANKS and not line.tobytes().strip(_BLANKS))
