"""What a command that follows something says when it loses the server."""

from datetime import datetime
from typing import Final, Protocol

from compute.cli.shell.prompts import notify

_LOST: Final = "The server cannot be reached; trying again until Ctrl-C."
_BACK: Final = "The server can be reached again."


class Followed(Protocol):
    """What knows whether the server can be reached."""

    @property
    def lost_since(self) -> datetime | None: ...


class ContactNotices:
    """Says once that the server is lost, and once that it is back."""

    def __init__(self, live: Followed, lost: str = _LOST) -> None:
        self._live = live
        self._sentence = lost
        self.lost = False

    def report(self) -> bool:
        """Whether there was something to say."""
        if self.lost == (self._live.lost_since is not None):
            return False
        self.lost = not self.lost
        notify(self._sentence if self.lost else _BACK)
        return True
