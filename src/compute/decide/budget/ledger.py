"""The promise that comes before a grant.

Who grants writes down first to whom, bound to the version of the ledger he read; only then does he
tell the claims. So of two who decide at once, one loses and looks again, and nobody can decide
without knowing what was promised before:

- a claim that was promised and does not say so yet is in the newest ledger, and counts;
- every other grant was seen by somebody before the ledger was last written, and the ledger says how
  new a view of the claims has to be to show it.

Whoever finds a promise that was never kept keeps it: its maker may have died in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from compute.decide.budget.claim_queues import Need
from kubekit.api import times
from kubekit.api.meta import EPOCH
from kubekit.api.wire import Wire

_PROJECT: Final = "project"
_REVISION: Final = "revision"
_HOLDER: Final = "holder"
_WRITTEN: Final = "written"
_RESERVED: Final = "reserved"


class Reservation(Wire, frozen=True, kw_only=True):
    """What one claim was promised."""

    namespace: str
    name: str
    uid: str
    need: Need


_RESERVATIONS: Final = msgspec.json.Decoder(tuple[Reservation, ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What was promised last, by whom and when.

    ``project`` is the uid of the project: a later one of the same name counts from the beginning.
    ``revision`` is how far the claims must be known before anybody may decide.
    """

    project: str
    revision: int = 0
    holder: str = ""
    written: datetime = EPOCH
    reserved: tuple[Reservation, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, str], project: str) -> "Ledger":
        """What is written for this project; an empty ledger where that is nothing.

        A ledger that cannot be read raises a `ValueError`: to start anew could promise twice.
        """
        if data.get(_PROJECT) != project:
            return cls(project=project)
        return cls(
            project=project,
            revision=int(data[_REVISION]),
            holder=data[_HOLDER],
            written=times.parse(data[_WRITTEN]),
            reserved=_RESERVATIONS.decode(data[_RESERVED]),
        )

    def data(self) -> dict[str, str]:
        """The ledger as texts, as a ConfigMap keeps it."""
        return {
            _PROJECT: self.project,
            _REVISION: str(self.revision),
            _HOLDER: self.holder,
            _WRITTEN: times.format_time(self.written),
            _RESERVED: msgspec.json.encode(self.reserved).decode(),
        }
