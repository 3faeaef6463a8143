"""Our plane and a real kube-apiserver, asked the same.

DIFFERENTIAL_SEEDS  other scripts than those of every run: "2000:5000", or "17" for one of them
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.differential import servers
from tests.differential.comparison import Comparison, Difference
from tests.differential.generator import script

_SCRIPTS = 300
_BATCH = 50
_AT_ONCE = 8  # scripts; a watch that waits for its end does not delay the others
_SHOWN = 3  # differences that are shrunk and reported


def batches() -> Iterator[range]:
    """The seeds of the scripts, in parts that several processes can share."""
    first, _, end = os.environ.get("DIFFERENTIAL_SEEDS", f"0:{_SCRIPTS}").partition(":")
    seeds = range(int(first), int(end) if end else int(first) + 1)
    for start in range(seeds.start, seeds.stop, _BATCH):
        yield range(start, min(start + _BATCH, seeds.stop))


@pytest.mark.peer
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "seeds", list(batches()), ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}"
)
def test_a_real_server_answers_the_same(seeds: range, tmp_path: Path):
    """Whatever is asked, status, body, warnings and events are theirs, but for what is explained."""
    found = asyncio.run(differences(seeds, tmp_path))
    reports = [f"seed {seed}\n{difference}" for seed, difference in found[:_SHOWN]]
    assert not found, f"{len(found)} of {len(seeds)} scripts differ\n\n" + "\n\n".join(reports)


async def differences(seeds: range, directory: Path) -> list[tuple[int, Difference]]:
    """The scripts that are answered differently, the first of them made small."""
    found: list[tuple[int, Difference]] = []
    turn = asyncio.Semaphore(_AT_ONCE)

    async def compare(comparison: Comparison, seed: int) -> None:
        async with turn:
            look = comparison.difference if len(found) >= _SHOWN else comparison.confirmed
            difference = await look(script(seed))
        if difference is not None:
            found.append((seed, difference))

    async with servers.ours(directory) as ours, servers.named(directory) as theirs:
        comparison = Comparison(ours, theirs, uuid4().hex[:6])
        async with asyncio.TaskGroup() as group:
            for seed in seeds:
                group.create_task(compare(comparison, seed))
    return found
