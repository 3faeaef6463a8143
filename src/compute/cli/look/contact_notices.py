"""What a command that follows something says when it loses the server."""

from typing import Final

from compute.cli.shell.prompts import notify
from compute.views.live import LiveObjects

_LOST: Final = "The server cannot be reached; trying again until Ctrl-C."
_BACK: Final = "The server can be reached again."


class ContactNotices:
    """Says once that the server is lost, and once that it is back."""

    def __init__(self, live: LiveObjects) -> None:
        self._live = live
        self.lost = False

    def report(self) -> bool:
        """Whether there was something to say."""
        if self.lost == (self._live.lost_since is not None):
            return False
        self.lost = not self.lost
        notify(_LOST if self.lost else _BACK)
        return True
