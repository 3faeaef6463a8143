"""Where two servers answer a script differently, and the smallest script that shows it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.differential.asks import Ask, Script
from tests.differential.explained import explained
from tests.differential.normal import Normal
from tests.differential.running import DecodedAnswer, answers_of
from tests.differential.servers import Server


@dataclass(frozen=True, slots=True)
class Difference:
    """The first request of a script that was answered differently, without a known reason."""

    script: Script
    ask: Ask
    ours: DecodedAnswer
    theirs: DecodedAnswer

    def __str__(self) -> str:
        script = "\n".join(map(str, self.script))
        return (
            f"{script}\n\nask {self.ask.number} is answered differently at "
            f"{', '.join(paths(self.ours, self.theirs))}\n--- ours\n{_shown(self.ours)}\n"
            f"--- theirs\n{_shown(self.theirs)}"
        )


class Comparison:
    """Runs scripts on both servers, each time in a new namespace."""

    def __init__(self, ours: Server, theirs: Server, mark: str) -> None:
        self._ours = ours
        self._theirs = theirs
        self._mark = mark
        self._runs = count()
        self.explained: dict[str, int] = {}

    async def difference(self, script: Script) -> Difference | None:
        """The first difference that nothing explains."""
        namespace = f"diff-{self._mark}-{next(self._runs)}"
        ours, theirs = await asyncio.gather(
            answers_of(script, self._ours, namespace), answers_of(script, self._theirs, namespace)
        )
        answers = zip(
            script, Normal().every(script, ours), Normal().every(script, theirs), strict=True
        )
        for ask, our, their in answers:
            if not paths(our, their):
                continue
            one, other, reasons = explained(ask, our, their)
            if paths(one, other):
                return Difference(script, ask, one, other)
            for reason in reasons:
                self.explained[reason] = self.explained.get(reason, 0) + 1
            if _parts(ask, our, their):
                return None
        return None

    async def confirmed(self, script: Script) -> Difference | None:
        """A difference that shows twice, in its smallest script."""
        if await self.difference(script) is None:
            return None
        found = await self.difference(script)
        return None if found is None else await _shrunk(found, self.difference)


def _parts(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> bool:
    """Whether only one server did what was asked, so that what follows is about other objects."""
    return ask.method != "GET" and (ours.status < 400) != (theirs.status < 400)


async def _shrunk(
    found: Difference, difference: Callable[[Script], Awaitable[Difference | None]]
) -> Difference:
    """The same difference in a script from which nothing can be left out."""
    number = found.ask.number
    kept = tuple(ask for ask in found.script if ask.number <= number)
    for ask in reversed(kept[:-1]):
        smaller = tuple(each for each in kept if each is not ask)
        again = await difference(smaller)
        if again is not None and again.ask.number == number:
            kept, found = smaller, again
    return found


def paths(ours: DecodedAnswer, theirs: DecodedAnswer) -> list[str]:
    """Where two answers differ."""
    return [
        *(["status"] if ours.status != theirs.status else []),
        *(["media"] if ours.media != theirs.media else []),
        *(["warnings"] if ours.warnings != theirs.warnings else []),
        *_differing("body", ours.body, theirs.body),
    ]


def _differing(path: str, ours: Any, theirs: Any) -> list[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [
            each
            for key in {**ours, **theirs}
            for each in _differing(f"{path}.{key}", ours.get(key, ...), theirs.get(key, ...))
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = zip(ours, theirs, strict=True)
        return [p for n, (a, b) in enumerate(pairs) for p in _differing(f"{path}[{n}]", a, b)]
    return [] if ours == theirs and type(ours) is type(theirs) else [path]


def _shown(answer: DecodedAnswer) -> str:
    body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body, sort_keys=True)
    warnings = "".join(f"\n    Warning: {warning}" for warning in answer.warnings)
    return f"    {answer.status} {answer.media}{warnings}\n    {body}"
