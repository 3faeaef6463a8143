"""The comparison itself: silent where servers agree, short and clear where they do not."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.differential import servers
from tests.differential.asks import Ask, Sent
from tests.differential.comparison import Comparison, Difference, paths
from tests.differential.generator import script
from tests.differential.normal import Normal
from tests.differential.running import DecodedAnswer
from tests.differential.servers import Answer, Server

MAPS = "/api/v1/namespaces/{{ns}}/configmaps"
BODY = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'


@dataclass(frozen=True, slots=True)
class Spoiled(Server):
    """A server that denies one path, once something was created there."""

    async def ask(self, sent: Sent) -> Answer:
        answer = await self.real.ask(sent)
        if sent.method == "GET" and sent.target.endswith("/configmaps/a") and answer.status == 200:
            return replace(answer, status=418)
        return answer

    @property
    def real(self) -> Server:
        return Server(self.name, self.url, self.session)


async def compared(
    directory: Path, *scripts: tuple[Ask, ...], spoiled: bool = False
) -> list[Difference | None]:
    """What is found where two planes of ours are compared."""
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(servers.ours(directory / name)) for name in "ab"
        ]
        if spoiled:
            other = Spoiled(other.name, other.url, other.session)
        comparison = Comparison(one, other, "x")
        return [await comparison.confirmed(asks) for asks in scripts]


@pytest.mark.slow
def test_two_planes_of_ours_agree(tmp_path: Path):
    """Nothing in an answer depends on chance, on time or on what else is asked meanwhile."""
    scripts = [script(seed) for seed in range(9000, 9012)]
    assert asyncio.run(compared(tmp_path, *scripts)) == [None] * len(scripts)


def test_a_difference_is_found_and_made_small(tmp_path: Path):
    """Only the requests that it takes are left, under their own numbers."""
    asks = (
        Ask(0, "GET", MAPS),
        Ask(1, "POST", MAPS, body=BODY),
        Ask(2, "GET", f"{MAPS}/b"),
        Ask(3, "GET", f"{MAPS}/a"),
        Ask(4, "DELETE", f"{MAPS}/a"),
    )
    found = asyncio.run(compared(tmp_path, asks, spoiled=True))[0]
    assert found is not None
    assert [ask.number for ask in found.script] == [1, 3]
    assert (found.ask.number, found.ours.status, found.theirs.status) == (3, 200, 418)
    assert "ask 3 is answered differently at status" in str(found)


def read_answer(body: Any, status: int = 200) -> DecodedAnswer:
    return DecodedAnswer(status, "application/json", (), body)


def test_versions_are_numbered_by_their_first_appearance():
    """Whatever numbers two servers give out, the same change must bring a new one."""
    asks = tuple(Ask(number, "GET", "/x") for number in range(3))
    answers = [
        read_answer({"metadata": {"resourceVersion": version}}) for version in ("7", "9", "7")
    ]
    seen = [answer.body["metadata"] for answer in Normal().every(asks, answers)]
    assert [metadata["resourceVersion"] for metadata in seen] == [
        *("<version 1>", "<version 2>", "<version 1>")
    ]


def test_bookmarks_come_when_they_like():
    """But the end of the initial events is a promise."""
    mere = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}}
    notes = {"k8s.io/initial-events-end": "true"}
    end = {"type": "BOOKMARK", "object": {"metadata": {"annotations": notes}}}
    ask = Ask(0, "GET", "/x", (("watch", "1"),))
    seen = Normal().every((ask,), [read_answer([mere, end])])
    assert seen[0].body == [end]


def test_the_paths_of_differences_are_reported():
    """By paths, in which true is not 1 and what is missing is not null."""
    ours = read_answer({"a": [1, {"b": True}], "c": None})
    theirs = read_answer({"a": [1, {"b": 1}]}, status=201)
    assert paths(ours, theirs) == ["status", "body.a[1].b", "body.c"]
