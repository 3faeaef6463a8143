"""The lines of a stream that comes in pieces of any size.

A line that lies within a piece is a view of it: nothing is copied. Only what goes on into the next
piece is kept aside, and each byte of it is looked at once.
"""

from typing import Final

from kubekit.client.http.failures import AttemptFailure

_BLANKS: Final = b" \t\r"


class LineTooLong(AttemptFailure):
    """A line beyond the limit."""


class LineSplitter:
    """Takes pieces, gives lines without their ends. Blank ones are left out."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()

    @property
    def is_within(self) -> bool:
        """Whether a line has begun that has not ended."""
        return not _is_blank(memoryview(self._begun))

    def feed(self, piece: bytes) -> list[memoryview]:
        """The lines that end in this piece."""
        found: list[memoryview] = []
        view = memoryview(piece)
        begin, end = 0, piece.find(b"\n")
        if self._begun and end >= 0:
            line, self._begun = self._begun, bytearray()
            line += view[:end]
            self._add(found, memoryview(line))
            begin, end = end + 1, piece.find(b"\n", end + 1)
        while end >= 0:
            self._add(found, view[begin:end])
            begin, end = end + 1, piece.find(b"\n", end + 1)
        self._begun += view[begin:]
        self._check(len(self._begun))
        return found

    def _add(self, found: list[memoryview], line: memoryview) -> None:
        self._check(len(line))
        if not _is_blank(line):
            found.append(line)

    def _check(self, length: int) -> None:
        if length > self._longest:
            raise LineTooLong(f"a line of the stream has more than {self._longest} bytes")


def _is_blank(line: memoryview) -> bool:
    # A line that is not blank begins with a brace, and is not looked at any further.
    return not line or (line[0] in _BLANKS and not line.tobytes().strip(_BLANKS))
