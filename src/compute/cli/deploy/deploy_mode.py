"""How far a deploy goes, and what it prints."""

from dataclasses import dataclass
from datetime import timedelta

from compute.cli.shell.prompts import can_ask


@dataclass(frozen=True, slots=True)
class DeployMode:
    """How far a deploy goes, and what it prints."""

    yes: bool
    output: str
    dry_run: str | None  # client or server
    diff: bool
    exit_code: bool
    detach: bool
    auto_undo: bool
    timeout: timedelta
    save: str | None

    @property
    def writes(self) -> bool:
        return self.dry_run is None and not self.diff

    @property
    def asks(self) -> bool:
        """Whether a person has to answer questions."""
        return not self.yes and can_ask()
