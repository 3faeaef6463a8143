"""The promise that precedes a grant.

A manager first records which claims it grants, bound to the version of the ledger that it read; only
then does it write the claims. So if two managers decide at once, one of them gets a conflict and
reconciles again, and none decides without knowing all promises:

- a claim that was promised and does not report it yet is in the newest ledger, and counts;
- every other grant was observed before the ledger was last written, and the ledger states the
  revision from which a view of the claims shows it.

A manager that finds an unfulfilled promise fulfils it: the other may have died in between.
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
    """The last promises.

    ``project`` is the uid of the project: a later one of the same name starts with an empty ledger.
    ``revision`` is the least revision of the claims that a decision has to be based on.
    """

    project: str
    revision: int = 0
    holder: str = ""
    written: datetime = EPOCH
    reserved: tuple[Reservation, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, str], project: str) -> "Ledger":
        """The recorded ledger of this project; an empty one where there is none.

        An unreadable ledger raises a `ValueError`: an empty one could promise twice.
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
        """The data of the ledger's ConfigMap."""
        return {
            _PROJECT: self.project,
            _REVISION: str(self.revision),
            _HOLDER: self.holder,
            _WRITTEN: times.format_time(self.written),
            _RESERVED: msgspec.json.encode(self.reserved).decode(),
        }
