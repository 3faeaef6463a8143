"""A soak test: whether memory, descriptors or the log of a world grow under constant change and kills.

    .venv/bin/python bench/soak.py                          10 minutes, 1,000 Instances, a kill every 20 s
    .venv/bin/python bench/soak.py --minutes 120            longer, for slopes with smaller errors
    .venv/bin/python bench/soak.py --quick                  a minute
    .venv/bin/python bench/soak.py --help                   everything else

`compute up` runs in a process of its own with three cities, and users update and scale their Workloads
all the time. In the first half the process is killed with SIGKILL and restarted, again and again. Each
process is measured when it is ready and when all Workloads are served. In the second half one process
keeps running, to measure slopes. Its memory grows until it holds ten minutes of changes, so the slope
is judged only after that, in runs of more than half an hour. The exit code is 0 if all limits are met.
"""

import argparse
import asyncio
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `bench.load` and `tests`

from bench.load.lives import MB, Life, Sample, judged, row, title
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.api.quota import Allowance, GrantBucket, ResourceClaim, ResourceGrant
from compute.decide import joins
from compute.decide.deployment.template import recorded_hash, template_hash
from compute.decide.quota import INSTANCE_TYPES, INSTANCES, MEMORY, VCPUS
from kubekit.api.errors import Conflict, NotFound
from kubekit.api.meta import Object
from kubekit.client.client import Client
from tests.integration.worlds import is_ready, is_served, with_image, with_replicas
from tests.support.compute import builders
from tests.support.compute.world_process import WorldProcess

_CITIES: Final = ("DFW", "LHR", "SIN")
_WORKLOADS: Final = 10
_USERS: Final = 2  # that change something at the same time
_POLL: Final = 0.2  # seconds
_SAMPLE: Final = 2.0  # seconds between two samples of the process
_PATIENCE: Final = 300.0  # seconds until everything is served
_LEFTOVERS: Final[tuple[type[Object], ...]] = (
    Workload, WorkloadDeployment, Instance, ResourceClaim, ResourceBinding,
)  # fmt: skip


class Soak:
    """A world, the users that change it, and the samples taken of it."""

    def __init__(self, world: WorldProcess, options: argparse.Namespace) -> None:
        self.lives: list[Life] = []
        self._world = world
        self._chance = Random(options.seed)  # noqa: S311 - what is changed is no secret
        self._base = max(2, round(options.instances / len(_CITIES) / _WORKLOADS))
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()

    async def prepare(self) -> None:
        """Create the Workloads, in the first process."""
        await self._world.start()
        await _allow(self._world.client("core"), 2 * self._base * len(_CITIES) * _WORKLOADS)
        scale = {"instance_management_policy": "Parallel"}
        for number in range(_WORKLOADS):
            placement = builders.placement("home", *_CITIES, replicas=self._base, **scale)
            await self._user.create(builders.workload(f"web{number}", placement))
        await self._settle()
        await self._world.kill()

    async def live(self, seconds: float) -> None:
        """One process. It is changed from when everything is served until it is killed."""
        started = self._clock()
        await self._world.start()
        ready = self._clock()
        first = await self._sample()
        await self._settle()
        life = Life(
            number=len(self.lives) + 1,
            ready=ready - started,
            settled=self._clock() - ready,
            first=first,
            rest=await self._sample(),
        )
        self.lives.append(life)
        print(row(life), flush=True)
        users = [asyncio.create_task(self._change(life)) for _ in range(_USERS)]
        while self._clock() < started + seconds:
            await asyncio.sleep(_SAMPLE)
            life.samples.append(await self._sample())
        for user in users:
            user.cancel()
        await self._world.kill()
        for ended in await asyncio.gather(*users, return_exceptions=True):
            if not isinstance(ended, asyncio.CancelledError):
                raise SystemExit(f"a user was refused: {ended!r}")

    async def finish(self) -> Counter[str]:
        """Delete everything. Returns what is left in any plane."""
        await self._world.start()
        await self._settle()
        for workload in (await self._user.every(Workload)).items:
            await self._user.delete(workload)
        ends = self._clock() + _PATIENCE
        while (left := await self._leftovers()) and self._clock() < ends:  # noqa: ASYNC110 - another process
            await asyncio.sleep(_POLL)
        await self._world.kill()
        return left

    @property
    def _user(self) -> Client:
        return self._world.client("project-demo")

    async def _change(self, life: Life) -> None:
        """Update or scale one Workload after the other, each once the previous one is served."""
        while True:
            name = f"web{self._chance.randrange(_WORKLOADS)}"
            tenth = max(1, self._base // 10)
            wanted = self._chance.choice((0, 0, -tenth, 0, tenth))
            image = f"registry.test/web:{self._chance.randrange(10**9)}"
            change = with_replicas(self._base + wanted) if wanted else with_image(image)
            with suppress(Conflict):
                present = await self._user.get(Workload, name, "default")
                await self._user.patch(present, change(present))
                life.changes += 1
            while not is_served(await self._user.get(Workload, name, "default")):  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL)

    async def _settle(self) -> None:
        ends = self._clock() + _PATIENCE
        while not await self._is_served():
            if self._clock() > ends:
                raise SystemExit(f"not everything is served after {_PATIENCE:g} s")
            await asyncio.sleep(_POLL)

    async def _is_served(self) -> bool:
        """Whether every Instance is Ready and has the newest template."""
        workloads = (await self._user.every(Workload)).items
        if not all(is_served(each) for each in workloads):
            return False
        newest = {w.metadata.name: template_hash(w.spec.template) for w in workloads}
        shown = (await self._user.every(Instance)).items
        return len(shown) == sum(w.status.replicas for w in workloads) and all(
            is_ready(i) and recorded_hash(i) == newest.get(joins.workload_name(i)) for i in shown
        )

    async def _leftovers(self) -> Counter[str]:
        leftovers: Counter[str] = Counter()
        for plane in self._world.contexts():
            for kind in _LEFTOVERS:
                with suppress(NotFound):  # a plane that does not know the kind has none
                    items = (await self._world.client(plane).every(kind)).items
                    leftovers[f"{kind.__name__} in {plane}"] += len(items)
        works = (await self._world.client("hub").every(Work)).items
        leftovers["Work in hub"] += sum(w.metadata.name.startswith("web") for w in works)
        return +leftovers

    async def _sample(self) -> Sample:
        page = await self._world.page("/metrics")
        memory, files = _figure(page, "resident_memory_bytes"), _figure(page, "open_fds")
        wals = [file.stat().st_size for file in self._world.data.rglob("*-wal")]
        return Sample(self._clock() - self._started, memory / MB, int(files), max(wals))


async def main(options: argparse.Namespace) -> int:
    """Run the soak test, and report the measurements."""
    seconds = 60.0 * options.minutes
    with tempfile.TemporaryDirectory(prefix="soak-", dir=options.folder) as folder:
        world = WorldProcess(Path(folder) / "world", f"--cities={','.join(_CITIES)}")
        try:
            soak = Soak(world, options)
            await soak.prepare()
            started = asyncio.get_running_loop().time()
            print(title())
            while asyncio.get_running_loop().time() - started < seconds / 2:
                await soak.live(options.every)
            await soak.live(seconds - (asyncio.get_running_loop().time() - started))
            left = await soak.finish()
        finally:
            await world.end()
        return judged(soak.lives, left, world.strange())


def _figure(page: str, name: str) -> float:
    """A process metric, from the page of metrics."""
    match = re.search(rf"^process_{name} (\S+)$", page, re.MULTILINE)
    if match is None:
        raise SystemExit(f"/metrics does not have process_{name}")
    return float(match[1])


async def _allow(core: Client, instances: int) -> None:
    """Raise the grants to the resources of this many Instances."""
    grants = (await core.every(ResourceGrant)).items
    size = INSTANCE_TYPES["datumcloud/d1-standard-2"]
    each = {INSTANCES: 1, VCPUS: size.millicores, MEMORY: size.mebibytes}
    allowances = tuple(
        Allowance(resource_type=kind, buckets=(GrantBucket(amount=instances * amount),))
        for kind, amount in each.items()
    )
    for grant in grants:
        spec = msgspec.structs.replace(grant.spec, allowances=allowances)
        await core.patch(grant, msgspec.structs.replace(grant, spec=spec))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--minutes", type=float, default=10, help="of the whole run, half of it with kills")
    add("--instances", type=int, default=1000, help="about so many, over three cities")
    add("--every", type=float, default=20, help="seconds of a life")
    add("--seed", type=int, default=1, help="of what is changed")
    add("--folder", default=None, help="where data is kept meanwhile; a real disk, not tmpfs")
    add("--quick", action="store_true", help="a minute with 100 Instances, a kill every 6 s")
    given = parser.parse_args(arguments)
    if given.quick:
        given.minutes, given.instances, given.every = 1.0, 100, 6.0
    return given


if __name__ == "__main__":
    sys.exit(asyncio.run(main(_options(sys.argv[1:]))))
