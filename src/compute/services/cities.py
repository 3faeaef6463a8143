"""The cities of the world that a cell may serve, by the IATA code of an airport of theirs."""

from functools import cache
from importlib import resources

import msgspec

from compute.api.wire import Wire


class City(Wire, frozen=True, kw_only=True):
    """A city: its name, the ISO 3166 code of its country, and where it is, in degrees."""

    name: str
    country: str
    latitude: float
    longitude: float


@cache
def cities() -> dict[str, City]:
    """Every city that is known, by its code."""
    text = resources.files("compute.services").joinpath("cities.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, City])


def find(code: str) -> City | None:
    """The city of a code; None for one that nobody told us of. It may be served all the same."""
    return cities().get(code)
