"""Codes of cities that a user types: which one was probably meant, the project's own first."""

from collections.abc import Collection

from compute.api.cities import CITIES
from compute.cli.shell.groups import nearest
from compute.decide import city_codes


def city_fault(word: str, offered: Collection[str]) -> str | None:
    """Why no city has this code; None if one does. ``offered`` are the cities of the project."""
    if word in offered or word in CITIES:
        return None
    near = nearest(word.upper(), offered)
    return f"no city has the code {word}; did you mean {near}?" if near else city_codes.fault(word)
