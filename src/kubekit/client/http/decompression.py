"""Compressed bodies, inflated as they arrive and never beyond a limit."""

import zlib
from typing import Final

_EITHER: Final = 32 + 15  # of gzip and zlib, detected by the first bytes


class Inflation:
    """One compressed body. The output is bounded, however small its compressed form is."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._inflate = zlib.decompressobj(wbits=_EITHER)
        self._started = False

    @property
    def is_whole(self) -> bool:
        """Whether it has ended. A body that never started was not compressed."""
        return self._inflate.eof or not self._started

    def feed(self, piece: bytes) -> bytes:
        """The content of the piece. It raises `ValueError` if it is damaged or too large."""
        self._started = True
        try:
            inflated = self._inflate.decompress(piece, self._most + 1)
        except zlib.error as error:
            raise ValueError("its compression is damaged") from error
        if len(inflated) > self._most or self._inflate.unconsumed_tail:
            raise ValueError(f"it has more than {self._most} bytes")
        if self._inflate.unused_data:
            raise ValueError("it goes on after its end")
        self._most -= len(inflated)
        return inflated
