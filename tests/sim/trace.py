"""The trace of a simulated world, line by line, to read and to compare."""

import asyncio
import hashlib
from collections import deque
from typing import Final

KEPT: Final = 400


class Trace:
    """The latest lines, and a digest of all of them. ``echo`` prints each as it comes."""

    def __init__(self, *, echo: bool = False, kept: int = KEPT) -> None:
        self.lines: deque[str] = deque(maxlen=kept)
        self.count = 0
        self._echo = echo
        self._digest = hashlib.blake2b(digest_size=16)

    def say(self, who: str, what: str, subject: str = "", outcome: str = "") -> None:
        now = asyncio.get_running_loop().time()
        line = f"{now:12.6f}  {who:<14} {what:<9} {subject:<34} {outcome}".rstrip()
        self._digest.update(line.encode())
        self.lines.append(line)
        self.count += 1
        if self._echo:
            print(line)  # noqa: T201 -- a replay is read on the terminal

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()
