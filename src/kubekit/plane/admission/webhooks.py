"""The webhooks of one plane, kept current, as two functions that have a say in every change.

With no webhook for a change both answer at once. Those that may complete a change are asked one
after the other, each about what the one before left; those that may only refuse are asked at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kubekit.api import scheme
from kubekit.api.errors import Timeout
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.admission import addresses
from kubekit.plane.admission.destinations import Resolve, no_services
from kubekit.plane.admission.failures import CallFailed, denied, failed, no_dry_run
from kubekit.plane.admission.hooks import Configuration, Hook, hooks_of
from kubekit.plane.admission.matching import Asked, Matches
from kubekit.plane.admission.patching import patched
from kubekit.plane.admission.reviews import WebhookVerdict, request_of, review_of, verdict_of
from kubekit.plane.registry.admission import AdmissionChain, AdmissionPlugin, Attempt
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record

if TYPE_CHECKING:
    from kubekit.plane.admission.calling import WebhookCaller

Audit = Callable[[Attempt, str, str], None]
"""Told what a webhook wants to have in the audit log: a key that begins with its name, a value."""

_KINDS: Final[Mapping[str, type[Configuration]]] = {
    f"{kind.RESOURCE.group}/{kind.RESOURCE.plural}": kind
    for kind in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration)
}
_LONGEST_WARNING: Final = 256
_ROOM_FOR_WARNINGS: Final = 4096
_MOST_ANNOTATIONS: Final = 64
_LONGEST_ANNOTATION: Final = 4096
_log: Final = logging.getLogger(__name__)


def _nobody(_attempt: Attempt, _key: str, _value: str) -> None:
    """Where nothing is audited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What webhooks need of the world: where Services are, who audits, what may be called.

    ``patience`` is how many seconds all those together have who are asked one after the other.
    """

    resolve: Resolve = no_services
    audit: Audit = _nobody
    guard: Callable[[str], None] = field(default=addresses.check)
    patience: float = 30.0


class Webhooks:
    """Made on a running loop. ``close`` it before the store."""

    def __init__(
        self,
        registry: Registry,
        environment: ExecutionEnvironment,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._registry = registry
        self._environment = environment
        self._around = surroundings or Surroundings()
        self._caller: WebhookCaller | None = None
        self._configurations: dict[str, dict[str, Configuration]] = {}
        self._joined = AdmissionChain()
        self._has_begun = False
        self._mutating = self._validating = Matches(registry, ())
        for storage in _KINDS:
            self._configurations[storage] = {}
            for record in registry.store.collection(storage).range():
                self._keep(storage, record)
        self._rebuild()
        self._leave = registry.store.listen(self._heard, _KINDS)

    def join(self, admission: AdmissionChain) -> None:
        """Be asked whenever there is a webhook, before all who are asked anyway.

        Without one, a change does not even go by here.
        """
        self._joined = admission
        self._take_places()

    def begin(self) -> None:
        """Ask about every change from here on, and not only about deletions.

        Before that the plane itself makes sure of what it needs. Whoever is to mend a webhook that
        nobody answers for must find a plane that starts.
        """
        self._has_begun = True

    def mutate(self, attempt: Attempt) -> Awaitable[None] | None:
        """Let webhooks complete the change. `ApiError` refuses it."""
        matches = self._mutating
        if not self._concerns(attempt) or not _any_concerned(matches, attempt):
            return None
        return asyncio.ensure_future(self._in_time(self._one_by_one(matches, attempt)))

    def validate(self, attempt: Attempt) -> Awaitable[None] | None:
        """Let webhooks refuse the change, by an `ApiError`."""
        matches = self._validating
        if not self._concerns(attempt):
            return None
        asked = [each for each in matches.by_rule(attempt) if matches.concerns(each, attempt)]
        return asyncio.ensure_future(self._at_once(asked, attempt)) if asked else None

    async def close(self) -> None:
        self._leave()
        if self._caller is not None:
            await self._caller.close()

    def _concerns(self, attempt: Attempt) -> bool:
        return self._has_begun or attempt.verb == "delete"

    async def _in_time(self, asking: Coroutine[Any, Any, None]) -> None:
        """Each webhook has its own time; many of them must not add up to for ever."""
        try:
            async with asyncio.timeout(self._around.patience):
                await asking
        except TimeoutError:
            seconds = f"{self._around.patience:g}"
            raise Timeout(f"the webhooks took more than {seconds} s together") from None

    async def _one_by_one(self, matches: Matches, attempt: Attempt) -> None:
        """Ask in order; then again those who want that, if somebody after them changed something."""
        asked = matches.by_rule(attempt)
        seen: set[Hook] = set()
        again: set[Hook] = set()
        for each in asked:
            if not matches.concerns(each, attempt):
                continue
            if await self._complete(each, attempt):
                again |= seen
                seen.clear()
            if each.hook.asks_again:
                seen.add(each.hook)
        for each in asked:
            if each.hook in again and matches.concerns(each, attempt):
                await self._complete(each, attempt)

    async def _complete(self, asked: Asked, attempt: Attempt) -> bool:
        """Whether the webhook changed the object."""
        verdict = await self._verdict(asked, attempt, may_patch=True)
        if verdict is None or verdict.patch is None:
            return False
        document = patched(attempt, asked.kind, verdict.patch, asked.hook.name)
        if document is None:
            return False
        # The next one sees the defaults of what this one added. Faults are told at the end.
        attempt.document = attempt.kind.conform(document, attempt.old).document
        attempt.changed = True
        return True

    async def _at_once(self, asked: list[Asked], attempt: Attempt) -> None:
        asking = (self._verdict(each, attempt, may_patch=False) for each in asked)
        for outcome in await asyncio.gather(*asking, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _verdict(
        self, asked: Asked, attempt: Attempt, *, may_patch: bool
    ) -> WebhookVerdict | None:
        """A webhook's yes; None if it failed to give one and that does not matter."""
        hook = asked.hook
        if attempt.dry_run and not hook.is_harmless_when_dry:
            raise no_dry_run(hook.name)
        try:
            verdict = await self._answer(asked, attempt, may_patch=may_patch)
        except CallFailed as failure:
            _log.warning("webhook failed", extra={"webhook": hook.name, "why": str(failure)})
            if hook.ignores_failure:
                return None
            raise failed(hook.name, str(failure)) from failure
        _warn(attempt, verdict.warnings)
        for key, value in list(verdict.annotations.items())[:_MOST_ANNOTATIONS]:
            self._around.audit(attempt, f"{hook.name}/{key}", value[:_LONGEST_ANNOTATION])
        if not verdict.allowed:
            raise denied(hook.name, verdict.status)
        return verdict

    async def _answer(self, asked: Asked, attempt: Attempt, *, may_patch: bool) -> WebhookVerdict:
        uid = self._environment.uid()
        address = asked.hook.address(self._around.resolve)
        review = review_of(request_of(attempt, asked.kind, uid))
        answer = await self._calling().call(address, review)
        return verdict_of(answer, uid, may_patch=may_patch)

    def _calling(self) -> "WebhookCaller":
        """Who calls. What he needs takes longer to import than a plane to start, and few call."""
        if self._caller is None:
            from kubekit.plane.admission.calling import WebhookCaller  # noqa: PLC0415 - for that reason

            self._caller = WebhookCaller(self._around.guard)
        return self._caller

    def _heard(self, storage: str, event: ChangeEvent) -> None:
        if storage not in _KINDS:
            return
        if event.change is ChangeType.DELETED:
            self._configurations[storage].pop(event.record.key, None)
        else:
            self._keep(storage, event.record)
        self._rebuild()

    def _keep(self, storage: str, record: Record) -> None:
        try:
            configuration = scheme.decode_as(_KINDS[storage], record.data)
        except scheme.DecodeError as error:
            # What was understood of it before stays in force.
            _log.error("webhooks not read", extra={"object": record.key, "why": str(error)})
            return
        self._configurations[storage][record.key] = configuration

    def _rebuild(self) -> None:
        mutating, validating = (tuple(each.values()) for each in self._configurations.values())
        self._mutating = Matches(self._registry, hooks_of(mutating))
        self._validating = Matches(self._registry, hooks_of(validating))
        every = (*self._mutating.hooks, *self._validating.hooks)
        if self._caller is not None:
            self._caller.forget({hook.webhook.client_config.ca_bundle for hook in every})
        self._take_places()

    def _take_places(self) -> None:
        _take_place(self._joined.mutating, self.mutate, wanted=bool(self._mutating.hooks))
        _take_place(self._joined.validating, self.validate, wanted=bool(self._validating.hooks))


def _take_place(those: list[AdmissionPlugin], admit: AdmissionPlugin, *, wanted: bool) -> None:
    if admit in those:
        those.remove(admit)
    if wanted:
        those.insert(0, admit)


def _any_concerned(matches: Matches, attempt: Attempt) -> bool:
    return any(matches.concerns(each, attempt) for each in matches.by_rule(attempt))


def _warn(attempt: Attempt, warnings: Iterable[str]) -> None:
    """Pass warnings on, as far as there is room. What no header can carry is left out."""
    room = _ROOM_FOR_WARNINGS - sum(map(len, attempt.warnings))
    for text in warnings:
        shown = text[:_LONGEST_WARNING]
        room -= len(shown)
        if room < 0:
            return
        if shown and shown.isprintable():
            attempt.warnings.append(shown)
