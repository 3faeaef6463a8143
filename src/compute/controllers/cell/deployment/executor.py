"""Carrying out an agenda on Instances, and knowing afterwards how they stand.

Names and uids make every step safe to repeat: an Instance that was made already cannot be made twice,
and one that went already is not mistaken for the next of its name.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from compute.api.compute import Instance
from compute.api.reasons import Reason
from compute.controllers.cell.deployment.deployment_plan import Agenda, new_instances, tended
from compute.controllers.cell.deployment.members import is_member
from compute.controllers.cell.planes import CellSettings
from compute.decide.deployment.instance_edits import is_edited, report_of
from compute.decide.deployment.rollout import CreateInstance
from compute.decide.ranking import Candidate
from kubekit.api.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
)
from kubekit.client.client import Client
from kubekit.runtime.concurrency import slow_start_batch
from kubekit.runtime.reporting.events import EventRecorder

_log: Final = logging.getLogger(__name__)

_REFUSALS: Final = (BadRequest, Forbidden, Invalid, TooLarge)


@dataclass(frozen=True, slots=True)
class Done:
    """The Instances after the work, as far as it can be known.

    ``refused`` is why an Instance could not be made, in words for the user; ``error`` is what to end
    the pass with once those words are written.
    """

    instances: list[Instance]
    refused: Candidate | None = None
    error: ApiError | None = None


class _Refused(Exception):
    """An Instance cannot be made."""

    def __init__(self, told: Candidate, error: ApiError) -> None:
        super().__init__(str(error))
        self.told = told
        self.error = error


class Acting:
    """The work of one pass. The deployment was read live before."""

    def __init__(
        self, client: Client, work: Agenda, settings: CellSettings, recorder: EventRecorder
    ) -> None:
        self._client = client
        self._work = work
        self._settings = settings
        self._recorder = recorder
        self._there = {instance.metadata.uid: instance for instance in work.instances}

    async def run(self, now: datetime) -> Done:
        """Do it all: first what others wait for, then what is new, then what has to go."""
        await slow_start_batch(self._change, self._work.changes)
        refused, error = await self._create()
        await slow_start_batch(partial(self._delete, now), self._work.deletes)
        return Done(list(self._there.values()), refused, error)

    async def _create(self) -> tuple[Candidate | None, ApiError | None]:
        """Fill the slots. The first refusal ends it, for the others are of the same template.

        A slot whose name is taken may stay so for long: another takes its place in the wave.
        """
        due, crowd = self._work.creates, self._work.crowd
        why: Candidate | None = None
        if not due:
            return None, None
        make = new_instances(self._work, self._settings)
        while due:
            try:
                filled = await slow_start_batch(partial(self._fill, make), due)
            except _Refused as refused:
                return refused.told, refused.error
            taken = [told for told in filled if told]
            why = taken[-1] if taken else why
            due, crowd = crowd[: len(taken)], crowd[len(taken) :]
        return why, None

    async def _fill(
        self, make: Callable[[int], Instance], step: CreateInstance
    ) -> Candidate | None:
        """Make the Instance of a slot. What is returned is why its name is taken, if it is."""
        wanted = make(step.ordinal)
        try:
            self._put(await self._client.create(wanted))
        except AlreadyExists:
            return await self._taken(wanted)
        except _REFUSALS as error:
            raise _Refused(_refusal(wanted, error), error) from error
        return None

    async def _taken(self, wanted: Instance) -> Candidate | None:
        """Why a slot's name is taken; None when the cache had merely not shown our own Instance."""
        name, namespace = wanted.metadata.name, wanted.metadata.namespace
        present = await self._client.find(Instance, name, namespace)
        if present is None:
            return None  # it went meanwhile, and its going asks for another look
        if is_member(present, self._work.deployment):
            self._put(present)
            return None
        extra = {"object": f"{namespace}/{name}", "uid": present.metadata.uid}
        _log.warning("the name of a slot is taken by an Instance that is not ours", extra=extra)
        message = "an Instance of another deployment still has its name"
        return Candidate(name, Reason.INSTANCES_PROVISIONING, message)

    async def _change(self, change: tuple[Instance, Mapping[str, str]]) -> None:
        """Change an Instance. Others write it all the time, so once it is read anew and tried again."""
        instance, labels = change
        meta = instance.metadata
        try:
            await self._tend(instance, labels)
        except NotFound:
            self._there.pop(meta.uid, None)
        except Conflict:
            fresh = await self._client.find(Instance, meta.name, meta.namespace)
            if fresh is not None and fresh.metadata.uid == meta.uid and not fresh.deleting:
                await self._tend(fresh, labels)

    async def _tend(self, instance: Instance, labels: Mapping[str, str]) -> None:
        """Write what the Instance lacks, and report what was changed by hand and is put back.

        A server that changes every spec by itself has the last word, without a report each time.
        """
        origin = self._work.origin
        wanted = tended(instance, labels, self._work.network, origin)
        written = await self._client.patch(instance, wanted)
        self._put(written)
        if is_edited(instance, origin) and not is_edited(written, origin):
            reason, note = Reason.INSTANCE_EDITED, report_of(instance, origin)
            self._recorder.event(self._client, written, "Warning", reason, note, "Restore")

    async def _delete(self, now: datetime, instance: Instance) -> None:
        try:
            await self._client.delete(instance)
        except (NotFound, Conflict):  # gone already, and perhaps another has its name
            self._there.pop(instance.metadata.uid, None)
            return
        meta = msgspec.structs.replace(instance.metadata, deletion_timestamp=now)
        self._put(msgspec.structs.replace(instance, metadata=meta))

    def _put(self, instance: Instance) -> None:
        self._there[instance.metadata.uid] = instance


def _refusal(wanted: Instance, error: ApiError) -> Candidate:
    """Why an Instance cannot be made. What is said to be invalid is for the user to correct."""
    invalid = isinstance(error, Invalid)
    reason = Reason.CONFIGURATION_ERROR if invalid else Reason.INSTANCES_PROVISIONING
    return Candidate(wanted.metadata.name, reason, f"it cannot be made: {error}")
