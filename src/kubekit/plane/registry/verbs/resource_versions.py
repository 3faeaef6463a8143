"""Resource versions in requests: parsing, and the errors for invalid ones."""

from typing import Final

from kubekit.api import digits
from kubekit.api.errors import BadRequest, Expired, Timeout
from kubekit.api.status import StatusCause, StatusDetails

_LONGEST_SHOWN: Final = 64
_MOST_DIGITS: Final = 20
_LARGEST: Final = 2**64 - 1


def parse(text: str) -> int:
    """The revision of a resource version; 0 for an empty one and for "0"."""
    if not text:
        return 0
    if digits.only(text) and len(text) <= _MOST_DIGITS and int(text) <= _LARGEST:
        return int(text)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
    raise BadRequest(
        f'invalid resource version: resourceVersion: Invalid value: "{shown}": '
        "it is not a number that this server issued"
    )


def too_large(requested: int, current: int) -> Timeout:
    """The refusal of a revision that does not exist yet. The client may retry."""
    cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
    return Timeout(
        f"Timeout: Too large resource version: {requested}, current: {current}",
        StatusDetails(causes=(cause,), retry_after_seconds=1),
    )


def too_old(requested: int, oldest: int) -> Expired:
    """The refusal of a compacted revision: the client has to list again."""
    return Expired(f"too old resource version: {requested} ({oldest})")
