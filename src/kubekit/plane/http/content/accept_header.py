"""Parses Accept headers, to find the media type that a client prefers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

_ANY = "*/*"


@dataclass(frozen=True, slots=True)
class MediaRange:
    """One entry of an Accept header. ``type`` is lower case, the parameters are without ``q``."""

    type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: float = 1.0


@lru_cache(maxsize=256)  # clients send the same few headers
def ranges(accept: str) -> tuple[MediaRange, ...]:
    """The entries of an Accept header by preference; an empty header accepts anything."""
    entries = [entry for part in accept.split(",") if (entry := _range(part)).type]
    liked = sorted((e for e in entries if e.quality > 0), key=lambda e: -e.quality)
    return tuple(liked) if entries else (MediaRange(_ANY),)


def takes(accepted: MediaRange, media_type: str) -> bool:
    """Whether a plain media type (``application/json``) falls into the range."""
    family = media_type.partition("/")[0]
    return accepted.type in (media_type, _ANY, f"{family}/*")


def _range(part: str) -> MediaRange:
    media_type, *rest = (word.strip() for word in part.split(";"))
    parameters = dict(_parameters(rest))
    return MediaRange(media_type.lower(), parameters, _quality(parameters.pop("q", "1")))


def _parameters(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, _, value = word.partition("=")
        yield name.strip().lower(), value.strip().strip('"')


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
