"""Bodies that come compressed, taken apart as they come and never beyond a limit."""

import zlib
from typing import Final

_EITHER: Final = 32 + 15  # of gzip and zlib, whichever the beginning shows


class Inflation:
    """One compressed body. What is given out at once is bounded, however small it was packed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._inflate = zlib.decompressobj(wbits=_EITHER)
        self._begun = False

    @property
    def is_whole(self) -> bool:
        """Whether it has ended. A body that never began was not compressed."""
        return self._inflate.eof or not self._begun

    def feed(self, piece: bytes) -> bytes:
        """What the piece holds. It raises `ValueError` if it is damaged or too much."""
        self._begun = True
        try:
            made = self._inflate.decompress(piece, self._most + 1)
        except zlib.error as error:
            raise ValueError("its compression is damaged") from error
        if len(made) > self._most or self._inflate.unconsumed_tail:
            raise ValueError(f"it has more than {self._most} bytes")
        if self._inflate.unused_data:
            raise ValueError("it goes on after its end")
        self._most -= len(made)
        return made
