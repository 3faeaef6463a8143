"""The claim of one process to a Lease: the states it has seen, and the writes it may send.

The fields have the meaning that client-go's leader election gives them, so that both can compete for
one Lease. A claim of another process has expired when *this* process has seen it unchanged for its
duration. The times in the Lease are for people, because the clocks of two machines never agree.

Every write has the version it was decided on as its precondition. So a delayed write, of any process,
cannot undo a later one.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from kubekit.api import times
from kubekit.api.errors import AlreadyExists, Conflict, NotFound
from kubekit.api.kinds.coordination import Lease, LeaseSpec
from kubekit.api.meta import ObjectMeta
from kubekit.api.times import MicroTime
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment

_SHORTEST: Final = 1  # second; the duration of a Lease without a holder, as client-go writes it


@dataclass(frozen=True, slots=True)
class LeaseLockSettings:
    """Which Lease, and for how many seconds a holder claims it."""

    name: str
    namespace: str
    seconds: int


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A Lease that this process held when the server answered, and so at loop time ``since``."""

    number: int
    since: float


class LeaseLock:
    """A claim to one Lease, under an identity that no other process has."""

    def __init__(
        self,
        client: Client,
        identity: str,
        environment: ExecutionEnvironment,
        settings: LeaseLockSettings,
    ) -> None:
        self._client = client
        self._identity = identity
        self._environment = environment
        self._settings = settings
        self._lease: Lease | None = None  # as last seen; None when there was none
        self._spec: LeaseSpec | None = None  # the last one seen, also of a Lease that is deleted
        self._seen_at = 0.0  # when the spec was first seen as it is
        self._in_doubt = False  # a write was sent and its response was lost

    async def acquire(self) -> HeldLease | None:
        """The Lease, or None while the claim of another process is valid.

        A Lease that names this process is its own: the response to an earlier write was lost.
        """
        await self._read()
        return await self._write() if self._is_free() else None

    async def renew(self) -> HeldLease | None:
        """The renewed Lease, or None when another process holds it.

        A deleted Lease is created again. Processes that saw our claim wait until it expires, so
        only a process that never saw the claim can create it first.
        """
        try:
            return await self._write()
        except (AlreadyExists, Conflict, NotFound):
            await self._read()
            return await self._write() if self._lease is None or self._is_ours() else None

    async def release(self) -> None:
        """Release the Lease, if it is ours or may be, so that the next leader need not wait."""
        if not self._in_doubt and not self._is_ours():
            return
        try:
            await self._clear_holder()
        except Conflict:  # a renewal of our own was still in flight
            await self._clear_holder()

    async def _clear_holder(self) -> None:
        await self._read()
        if self._lease is not None and self._is_ours():
            self._note(
                await self._client.patch(self._lease, _with(self._lease, self._released_spec()))
            )

    def _is_ours(self) -> bool:
        return self._spec is not None and self._spec.holder_identity == self._identity

    def _is_free(self) -> bool:
        """Whether we may take it. A claim stays valid for its duration even if the Lease is deleted."""
        if self._spec is None or not self._spec.holder_identity or self._is_ours():
            return True
        runs = self._spec.lease_duration_seconds or self._settings.seconds
        return _loop_time() >= self._seen_at + runs

    async def _read(self) -> None:
        settings = self._settings
        self._lease = await self._client.find(Lease, settings.name, settings.namespace)
        self._in_doubt = False
        if self._lease is not None:
            self._note(self._lease)

    async def _write(self) -> HeldLease:
        """The Lease with our identity in it, held from the moment before this was sent."""
        since = _loop_time()
        self._in_doubt = True
        written = await self._send(self._claim_spec())
        self._in_doubt = False
        self._note(written)
        return HeldLease(written.spec.lease_transitions or 0, since)

    async def _send(self, spec: LeaseSpec) -> Lease:
        if self._lease is not None:
            return await self._client.patch(self._lease, _with(self._lease, spec))
        metadata = ObjectMeta(name=self._settings.name, namespace=self._settings.namespace)
        return await self._client.create(Lease(metadata=metadata, spec=spec))

    def _note(self, lease: Lease) -> None:
        self._lease = lease
        if lease.spec != self._spec:
            self._spec = lease.spec
            self._seen_at = _loop_time()

    def _claim_spec(self) -> LeaseSpec:
        """The spec with this process as the holder. The number rises with each change of the holder.

        It continues from the last number that we saw even if the Lease is created again.
        """
        before = self._spec or LeaseSpec(lease_transitions=-1)
        now = self._now(before)
        ours = self._is_ours()
        return replace(
            before,
            holder_identity=self._identity,
            lease_duration_seconds=self._settings.seconds,
            acquire_time=before.acquire_time if ours else now,
            renew_time=now,
            lease_transitions=(before.lease_transitions or 0) + (0 if ours else 1),
        )

    def _released_spec(self) -> LeaseSpec:
        """The spec of a Lease without a holder, in the form that client-go writes."""
        before = self._spec or LeaseSpec()
        now = self._now(before)
        return replace(
            before,
            holder_identity="",
            lease_duration_seconds=_SHORTEST,
            acquire_time=now,
            renew_time=now,
        )

    def _now(self, before: LeaseSpec) -> MicroTime:
        """The time to write. It always differs from the stored one, whatever the clock says.

        A write that changes nothing would not be sent, and would be mistaken for a renewal.
        """
        now = self._environment.now()
        written = times.format_micro(now)
        if written != before.renew_time:
            return written
        return times.format_micro(now + timedelta(microseconds=1))


def _with(lease: Lease, spec: LeaseSpec) -> Lease:
    return replace(lease, spec=spec)


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
