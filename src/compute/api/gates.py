"""Scheduling gates: what an Instance waits for before it is started."""

from typing import Final

NETWORK: Final = "Network"
QUOTA: Final = "Quota"
REFERENCED_DATA: Final = "ReferencedData"  # written by later releases of the original
