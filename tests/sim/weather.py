"""The fault rates of a simulated network."""

from dataclasses import dataclass, fields, replace
from random import Random
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Probabilities per request, per list, per opened watch or per event; zero means no faults."""

    latencies: tuple[float, ...] = (0.001,)  # seconds, one way
    slow: float = 0.0  # a request that takes twenty to fifty times as long
    lost_request: float = 0.0  # never applied; the caller hears nothing
    lost_response: float = 0.0  # applied; the caller hears nothing
    refused: float = 0.0  # 429 or 503, not applied
    stale_list: float = 0.0  # an answer of the past, whose watch stays behind for a while
    expired: float = 0.0  # 410: per opened watch as a refusal, per event within the stream
    cut: float = 0.0  # per event: the stream ends, or breaks
    silent: float = 0.0  # per event: the stream stays open and tells nothing more
    delayed: float = 0.0  # per event: it comes up to ``delay`` later, and all behind it
    delay: float = 5.0
    repeated: float = 0.0  # per opened watch: it repeats events of before

    def describe(self) -> str:
        """The rates that are not zero, in one line."""
        fair = Weather()
        said = (f.name for f in fields(self) if getattr(self, f.name) != getattr(fair, f.name))
        return " ".join(f"{name}={getattr(self, name)}" for name in said) or "fair"


FAIR: Final = Weather()
TROUBLES: Final = {
    "slow": Weather(latencies=(0.001, 0.01, 0.1), slow=0.02),
    "lost_request": Weather(lost_request=0.1),
    "lost_response": Weather(lost_response=0.1),
    "refused": Weather(refused=0.15),
    "stale_list": Weather(stale_list=0.6),
    "expired": Weather(expired=0.1),
    "cut": Weather(cut=0.1),
    "silent": Weather(silent=0.02),
    "delayed": Weather(delayed=0.3),
    "repeated": Weather(repeated=0.7),
}


def drawn(chance: Random) -> Weather:
    """The faults of one run: none, one kind, or any mix, each with a random rate."""
    match chance.choice(("fair", "one", "mix", "mix", "mix")):
        case "fair":
            chosen = []
        case "one":
            chosen = [chance.choice(list(TROUBLES))]
        case _:
            chosen = [name for name in TROUBLES if chance.random() < 0.5]
    weather = Weather(latencies=chance.choice(((0.001,), (0.001, 0.01), (0.001, 0.01, 0.1))))
    for name in chosen:
        measure = getattr(TROUBLES[name], name) * chance.choice((0.3, 1.0))
        weather = replace(weather, **{name: measure})
    return weather
