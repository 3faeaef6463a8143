"""Execute the plan of a deployment on its Instances.

Names and uids make every step safe to repeat: an Instance cannot be created twice, and a deleted
one is not confused with its successor of the same name.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from compute.api.compute import Instance
from compute.api.reasons import Reason
from compute.controllers.cell.deployment.deployment_plan import (
    DeploymentPlan,
    instance_factory,
    updated,
)
from compute.controllers.cell.deployment.members import is_member
from compute.controllers.cell.planes import CellSettings
from compute.decide.deployment.instance_edits import is_edited, report_of
from compute.decide.deployment.rollout import CreateInstance
from compute.decide.ranking import Candidate
from kubekit.api.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
)
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from kubekit.runtime import live
from kubekit.runtime.concurrency import slow_start_batch
from kubekit.runtime.reporting.events import EventRecorder

_log: Final = logging.getLogger(__name__)

_REFUSALS: Final = (BadRequest, Forbidden, Invalid, TooLarge)


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """The Instances after the plan was executed.

    ``refused`` is the reason, with a message for the user, why an Instance could not be created.
    ``error`` is raised at the end of the reconcile pass, after the status is written.
    """

    instances: list[Instance]
    refused: Candidate | None = None
    error: ApiError | None = None


class _Refused(Exception):
    """An Instance cannot be created."""

    def __init__(self, cause: Candidate, error: ApiError) -> None:
        super().__init__(str(error))
        self.cause = cause
        self.error = error


class Executor:
    """Executes one plan. The deployment was read live before."""

    def __init__(
        self, client: Client, plan: DeploymentPlan, settings: CellSettings, recorder: EventRecorder
    ) -> None:
        self._client = client
        self._plan = plan
        self._settings = settings
        self._recorder = recorder
        self._instances = {instance.metadata.uid: instance for instance in plan.instances}

    async def run(self, now: datetime) -> ExecutionResult:
        """Update, then create, then delete Instances: updates open gates that Instances wait for."""
        await slow_start_batch(self._update_with_retry, self._plan.changes)
        refused, error = await self._create()
        await slow_start_batch(partial(self._delete, now), self._plan.deletes)
        return ExecutionResult(list(self._instances.values()), refused, error)

    async def _create(self) -> tuple[Candidate | None, ApiError | None]:
        """Create the Instances of empty slots. A refusal ends it: all have the same template.

        A name may stay taken for long, so another slot of the queue is filled in its place.
        """
        due, queued = self._plan.creates, self._plan.queued_creates
        cause: Candidate | None = None
        if not due:
            return None, None
        build = instance_factory(self._plan, self._settings)
        while due:
            try:
                causes = await slow_start_batch(partial(self._fill, build), due)
            except _Refused as refused:
                return refused.cause, refused.error
            taken = [each for each in causes if each]
            cause = taken[-1] if taken else cause
            due, queued = queued[: len(taken)], queued[len(taken) :]
        return cause, None

    async def _fill(
        self, build: Callable[[int], Instance], step: CreateInstance
    ) -> Candidate | None:
        """Create the Instance of a slot. If its name is taken, return the cause."""
        wanted = build(step.ordinal)
        try:
            created = await live.create(self._client, wanted)
        except _REFUSALS as error:
            raise _Refused(_refusal(wanted, error), error) from error
        if created is None:
            return await self._cause_of_taken(wanted)
        self._note(created)
        return None

    async def _cause_of_taken(self, wanted: Instance) -> Candidate | None:
        """Why a name is taken; None if it is our own Instance, which the cache did not show yet."""
        name, namespace = wanted.metadata.name, wanted.metadata.namespace
        present = await self._client.find(Instance, name, namespace)
        if present is None:
            return None  # it is gone; the watch event requeues the deployment
        if is_member(present, self._plan.deployment):
            self._note(present)
            return None
        extra = {"object": f"{namespace}/{name}", "uid": present.metadata.uid}
        _log.warning("the name of a slot is taken by an Instance of another owner", extra=extra)
        message = "an Instance of another deployment still has its name"
        return Candidate(name, Reason.INSTANCES_PROVISIONING, message)

    async def _update_with_retry(self, change: tuple[Instance, Mapping[str, str]]) -> None:
        """Update an Instance. Other writers are frequent, so a Conflict is retried once."""
        instance, labels = change
        try:
            await self._update(instance, labels)
        except NotFound:
            self._instances.pop(instance.metadata.uid, None)
        except Conflict:
            current = await live.current(self._client, instance)
            if current is not None:
                await self._update(current, labels)

    async def _update(self, instance: Instance, labels: Mapping[str, str]) -> None:
        """Write what the Instance lacks, and report a spec that was edited and is restored.

        A server that mutates every spec wins: that is not reported each time.
        """
        template = self._plan.template
        wanted = updated(instance, labels, self._plan.network, template)
        written = await self._client.patch(instance, wanted)
        self._note(written)
        if is_edited(instance, template) and not is_edited(written, template):
            reason, note = Reason.INSTANCE_EDITED, report_of(instance, template)
            self._recorder.event(self._client, written, "Warning", reason, note, "Restore")

    async def _delete(self, now: datetime, instance: Instance) -> None:
        deleted = False
        with suppress(Conflict):  # gone already, and another Instance has the name
            deleted = await live.delete(self._client, instance)
        if deleted:
            self._note(with_metadata(instance, deletion_timestamp=now))
        else:
            self._instances.pop(instance.metadata.uid, None)

    def _note(self, instance: Instance) -> None:
        self._instances[instance.metadata.uid] = instance


def _refusal(wanted: Instance, error: ApiError) -> Candidate:
    """Why an Instance cannot be created. Only an invalid spec is the user's to correct."""
    invalid = isinstance(error, Invalid)
    reason = Reason.CONFIGURATION_ERROR if invalid else Reason.INSTANCES_PROVISIONING
    return Candidate(wanted.metadata.name, reason, f"it cannot be created: {error}")
