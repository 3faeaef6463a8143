"""Controllers and kubelets for the manager's Deployments, in clusters that have neither.

Each cluster's Deployment `compute-manager` is followed as it is stored: its Pods run as processes with
the ConfigMaps, Secrets and the account that are in the cluster. A new generation starts new processes
before the old ones are stopped, and is reported in the status, so that `kubectl rollout` works.
"""

import asyncio
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.error import URLError
from urllib.request import urlopen

from kubekit.api.errors import NotFound, Timeout, Unavailable
from tests.peers.deployed.kustomizations import ROOT, Document
from tests.peers.deployed.pod_programs import PodPlace, PodProgram
from tests.peers.keeper import Refused
from tests.peers.stack.admin import Admin
from tests.peers.stack.running import RunningStack

_NAMESPACE: Final = "/api/v1/namespaces/compute-system"
_DEPLOYMENT: Final = "/apis/apps/v1/namespaces/compute-system/deployments/compute-manager"
_PAUSE: Final = 0.3  # seconds between two reads
_PATIENCE: Final = 60.0  # seconds for the thread to end


class Kubelets:
    """Follows the Deployments of some planes in a thread of its own. Use it as a context."""

    def __init__(self, stack: RunningStack, planes: Sequence[str]) -> None:
        self._kubelets = [_Kubelet(stack, plane) for plane in planes]
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._main, name="kubelets", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(_PATIENCE)

    def logs(self) -> str:
        """Why a process did not become ready, or ended by itself."""
        return "\n".join(line for each in self._kubelets for line in each.complaints)

    def _main(self) -> None:
        self._loop.run_until_complete(self._follow())
        self._loop.close()

    async def _follow(self) -> None:
        """Until the end, or until one of them fails."""
        tasks = [asyncio.ensure_future(each.run()) for each in self._kubelets]
        ending = asyncio.ensure_future(self._ending.wait())
        await asyncio.wait([*tasks, ending], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for kubelet, result in zip(self._kubelets, results, strict=True):
            kubelet.stop()
            if not isinstance(result, asyncio.CancelledError):
                kubelet.complaints.append(f"{kubelet.plane}: {result!r}")


@dataclass(slots=True)
class _Kubelet:
    """Runs the Pods of one plane's Deployment."""

    stack: RunningStack
    plane: str
    complaints: list[str] = field(default_factory=list)
    _pods: list[PodProgram] = field(default_factory=list)
    _generation: int = 0
    _secrets: dict[str, str] = field(default_factory=dict)

    async def run(self) -> None:
        async with self.stack.admin(self.plane) as admin:
            while True:
                with suppress(Unavailable, Timeout):  # what runs does not need the API server
                    await self._check(admin)
                await asyncio.sleep(_PAUSE)

    def stop(self) -> None:
        """Stop every Pod."""
        for pod in self._pods:
            self.stack.stop(pod.place.name)
        self._pods = []

    async def _check(self, admin: Admin) -> None:
        try:
            deployment = await admin.get(_DEPLOYMENT)
        except NotFound:
            return
        objects = await self._objects(admin)
        if deployment["metadata"]["generation"] != self._generation:
            await self._roll(admin, deployment, objects)
        for pod in self._pods:
            pod.refresh(objects)

    async def _objects(self, admin: Admin) -> list[Document]:
        """What a Pod may mount."""
        found = []
        for kind, plural in (("ConfigMap", "configmaps"), ("Secret", "secrets")):
            items = (await admin.get(f"{_NAMESPACE}/{plural}"))["items"]
            found += [{"kind": kind, **item} for item in items]
        return found

    async def _roll(self, admin: Admin, deployment: Document, objects: list[Document]) -> None:
        """Start the Pods of a new generation, and stop the others once those are ready."""
        generation = deployment["metadata"]["generation"]
        folder = self.stack.folder / "pods" / f"{self.plane}-{generation}"
        folder.mkdir(parents=True, exist_ok=True)
        token = await admin.token("compute-manager", "compute-system")
        kubeconfig = self.stack.access(self.plane, token).write(folder / "kubeconfig")
        names = [f"{self.plane}-{generation}-{n}" for n in range(deployment["spec"]["replicas"])]
        places = [PodPlace(n, folder / n, kubeconfig, objects, ROOT) for n in names]
        pods = [PodProgram(deployment, place) for place in places]
        try:
            programs = [pod.prepare() for pod in pods]
        except LookupError:  # a Pod waits for what it mounts
            shutil.rmtree(folder)
            return
        for program in programs:
            self.stack.run(program.name, program.arguments, program.environment)
        for pod in pods:
            await self._until_ready(pod)
        self.stop()
        self._pods, self._generation = pods, generation
        await admin.merge(f"{_DEPLOYMENT}/status", {"status": _complete(generation, len(pods))})

    async def _until_ready(self, pod: PodProgram) -> None:
        """Wait until it is ready; start it again as often as it ends."""
        name = pod.place.name
        while not await asyncio.to_thread(_answers, pod.url("readinessProbe")):
            try:
                self.stack.check(name)
            except Refused as reason:
                self.complaints.append(str(reason))
                self.stack.start(name)
            await asyncio.sleep(_PAUSE)


def _complete(generation: int, replicas: int) -> Document:
    """The status of a Deployment whose Pods are all ready."""
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {"observedGeneration": generation, **dict.fromkeys(counts, replicas)}


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
