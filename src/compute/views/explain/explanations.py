"""Why an object does not run, as people read it, and the objects that this is derived from."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from compute.api import names
from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding
from compute.api.quota import ResourceClaim
from compute.api.reasons import NOTHING_TO_DO, Owner
from compute.decide import city_use, joins
from compute.decide.explain.explanations import (
    Explanation,
    explain_deployment,
    explain_instance,
    explain_workload,
)
from compute.views.explain.glossary import OWNERS
from compute.views.reading import ProjectReader
from compute.views.view import View
from kubekit.api.meta import Object

KINDS: Final = {
    "workload": "workload",
    "workloads": "workload",
    "wl": "workload",
    "instance": "instance",
    "instances": "instance",
    "inst": "instance",
    "deployment": "deployment",
    "deployments": "deployment",
    "workloaddeployment": "deployment",
    "workloaddeployments": "deployment",
    "wd": "deployment",
}
"""The kinds of objects that can be explained, by what users call them."""


class ExplainedGate(View, frozen=True, kw_only=True):
    """Something that an Instance needs before it may start."""

    name: str
    open: bool
    why: str


class ExplanationView(View, frozen=True, kw_only=True):
    """Why an object does not run, or that it is healthy."""

    subject: str
    culprit: str
    healthy: bool
    reason: str
    cause: str
    owner: Owner
    acts: str  # the same in words
    since: datetime | None
    next_step: str  # empty if there is nothing to do
    gates: tuple[ExplainedGate, ...]


def explanation_view(explanation: Explanation) -> ExplanationView:
    """An explanation of `decide.explain`."""
    step = explanation.next_step
    return ExplanationView(
        subject=explanation.subject,
        culprit=explanation.culprit,
        healthy=explanation.healthy,
        reason=explanation.reason,
        cause=explanation.cause,
        owner=explanation.owner,
        acts=OWNERS[explanation.owner],
        since=explanation.since,
        next_step="" if step == NOTHING_TO_DO else step,
        gates=tuple(
            ExplainedGate(name=gate.name, open=gate.open, why=gate.why)
            for gate in explanation.gates
        ),
    )


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains objects of a namespace, at the time ``now``. Each method raises NotFound."""

    reader: ProjectReader
    now: datetime

    async def explain(self, kind: str, name: str) -> ExplanationView:
        """An object of one of the kinds in `KINDS`."""
        explain = {
            "workload": self._workload,
            "instance": self._instance,
            "deployment": self._deployment,
        }[kind]
        return explanation_view(await explain(name))

    async def names(self, kind: str) -> tuple[str, ...]:
        """The names of the objects of a kind, which a misspelled one may have meant."""
        classes: dict[str, type[Object]] = {
            "workload": Workload,
            "instance": Instance,
            "deployment": WorkloadDeployment,
        }
        return tuple(each.metadata.name for each in await self.reader.all(classes[kind]))

    async def _workload(self, name: str) -> Explanation:
        objects, bindings = await asyncio.gather(
            self.reader.of_workload(name), self.reader.if_served(LocationBinding)
        )
        offered = None if bindings is None else city_use.offered(bindings)
        (workload,) = objects.workloads
        return explain_workload(workload, objects.deployments, objects.instances, self.now, offered)

    async def _instance(self, name: str) -> Explanation:
        instance, claim = await asyncio.gather(
            self.reader.client.get(Instance, name, self.reader.namespace),
            self.reader.if_found(ResourceClaim, names.claim(name)),
        )
        return explain_instance(instance, claim, now=self.now)

    async def _deployment(self, name: str) -> Explanation:
        deployment, instances = await asyncio.gather(
            self.reader.client.get(WorkloadDeployment, name, self.reader.namespace),
            self.reader.all(Instance),
        )
        own = [each for each in instances if joins.deployment_name(each) == name]
        return explain_deployment(deployment, own, self.now)
