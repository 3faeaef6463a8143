"""The webhooks of one plane, kept up to date, as two admission plugins.

If no webhook matches a change, both return at once. Mutating webhooks are called one after the
other, each with the result of the previous one; validating webhooks are called concurrently.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kubekit.api import scheme
from kubekit.api.errors import Timeout
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.admission import address_guard
from kubekit.plane.admission.admission_reviews import (
    WebhookVerdict,
    request_of,
    review_of,
    verdict_of,
)
from kubekit.plane.admission.compiled_webhooks import CompiledWebhook, Configuration, hooks_of
from kubekit.plane.admission.webhook_addresses import Resolve, no_services
from kubekit.plane.admission.webhook_caller import WebhookCaller
from kubekit.plane.admission.webhook_errors import CallFailed, denied, failed, no_dry_run
from kubekit.plane.admission.webhook_matcher import MatchedWebhook, WebhookMatcher
from kubekit.plane.admission.webhook_patches import patched
from kubekit.plane.registry.admission import AdmissionChain, AdmissionPlugin, Attempt
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record

Audit = Callable[[Attempt, str, str], None]
"""Receives an audit annotation of a webhook: a key that starts with the webhook's name, a value."""

_KINDS: Final[Mapping[str, type[Configuration]]] = {
    f"{kind.RESOURCE.group}/{kind.RESOURCE.plural}": kind
    for kind in (MutatingWebhookConfiguration, ValidatingWebhookConfiguration)
}
_LONGEST_WARNING: Final = 256
_WARNING_BYTES: Final = 4096
_MOST_ANNOTATIONS: Final = 64
_LONGEST_ANNOTATION: Final = 4096
_log: Final = logging.getLogger(__name__)


def _ignore_audit(_attempt: Attempt, _key: str, _value: str) -> None:
    """Without an audit log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """The environment of webhooks: Services, the audit log, permitted addresses.

    ``timeout`` is the number of seconds that all mutating webhooks have together.
    """

    resolve: Resolve = no_services
    audit: Audit = _ignore_audit
    guard: Callable[[str], None] = field(default=address_guard.check)
    timeout: float = 30.0


class Webhooks:
    """The webhooks of a plane. Create it on a running loop; close it before the store."""

    def __init__(
        self,
        registry: Registry,
        environment: ExecutionEnvironment,
        settings: WebhookSettings | None = None,
    ) -> None:
        self._registry = registry
        self._environment = environment
        self._settings = settings or WebhookSettings()
        self._caller = WebhookCaller(self._settings.guard)
        self._configurations: dict[str, dict[str, Configuration]] = {}
        self._chain = AdmissionChain()
        self._started = False
        self._mutating = self._validating = WebhookMatcher(registry, ())
        for storage in _KINDS:
            self._configurations[storage] = {}
            for record in registry.store.collection(storage).range():
                self._load(storage, record)
        self._rebuild()
        self._unsubscribe = registry.store.listen(self._on_event, _KINDS)

    def register(self, admission: AdmissionChain) -> None:
        """Join the admission chain as its first plugins, but only while there are webhooks.

        So without webhooks a change costs nothing.
        """
        self._chain = admission
        self._update_chain()

    def start(self) -> None:
        """Call webhooks for every change from now on. Before, they are called for deletions only.

        Until then the plane creates its own objects. A webhook that does not respond must not
        prevent the start: users need a running plane to fix the webhook's configuration.
        """
        self._started = True

    def mutate(self, attempt: Attempt) -> Awaitable[None] | None:
        """Call the mutating webhooks. An `ApiError` refuses the change."""
        matches = self._mutating
        if not self._is_enabled(attempt) or not _any_applies(matches, attempt):
            return None
        return asyncio.ensure_future(self._with_timeout(self._call_in_order(matches, attempt)))

    def validate(self, attempt: Attempt) -> Awaitable[None] | None:
        """Call the validating webhooks. An `ApiError` refuses the change."""
        matches = self._validating
        if not self._is_enabled(attempt):
            return None
        matched = [each for each in matches.by_rule(attempt) if matches.applies(each, attempt)]
        return asyncio.ensure_future(self._call_concurrently(matched, attempt)) if matched else None

    async def close(self) -> None:
        self._unsubscribe()
        await self._caller.close()

    def _is_enabled(self, attempt: Attempt) -> bool:
        return self._started or attempt.verb == "delete"

    async def _with_timeout(self, calls: Coroutine[Any, Any, None]) -> None:
        """Each webhook has a timeout of its own; this one limits their sum."""
        try:
            async with asyncio.timeout(self._settings.timeout):
                await calls
        except TimeoutError:
            seconds = f"{self._settings.timeout:g}"
            raise Timeout(f"the webhooks took more than {seconds} s together") from None

    async def _call_in_order(self, matches: WebhookMatcher, attempt: Attempt) -> None:
        """Call in order; then reinvoke those that ask for it, if a later webhook changed the object."""
        matched = matches.by_rule(attempt)
        called: set[CompiledWebhook] = set()
        due: set[CompiledWebhook] = set()
        for each in matched:
            if not matches.applies(each, attempt):
                continue
            if await self._complete(each, attempt):
                due |= called
                called.clear()
            if each.hook.reinvoked:
                called.add(each.hook)
        for each in matched:
            if each.hook in due and matches.applies(each, attempt):
                await self._complete(each, attempt)

    async def _complete(self, match: MatchedWebhook, attempt: Attempt) -> bool:
        """Call a mutating webhook. Returns whether it changed the object."""
        verdict = await self._verdict(match, attempt, may_patch=True)
        if verdict is None or verdict.patch is None:
            return False
        document = patched(attempt, match.kind, verdict.patch, match.hook.name)
        if document is None:
            return False
        # The next webhook sees the defaults of added fields. Errors are reported after the last one.
        attempt.document = attempt.kind.conform(document, attempt.old).document
        attempt.changed = True
        return True

    async def _call_concurrently(self, matched: list[MatchedWebhook], attempt: Attempt) -> None:
        calls = (self._verdict(each, attempt, may_patch=False) for each in matched)
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _verdict(
        self, match: MatchedWebhook, attempt: Attempt, *, may_patch: bool
    ) -> WebhookVerdict | None:
        """The verdict that allows the change; None if the webhook failed and its policy is Ignore."""
        hook = match.hook
        if attempt.dry_run and not hook.supports_dry_run:
            raise no_dry_run(hook.name)
        try:
            verdict = await self._call(match, attempt, may_patch=may_patch)
        except CallFailed as failure:
            _log.warning("webhook failed", extra={"webhook": hook.name, "why": str(failure)})
            if hook.ignores_failure:
                return None
            raise failed(hook.name, str(failure)) from failure
        _warn(attempt, verdict.warnings)
        for key, value in list(verdict.annotations.items())[:_MOST_ANNOTATIONS]:
            self._settings.audit(attempt, f"{hook.name}/{key}", value[:_LONGEST_ANNOTATION])
        if not verdict.allowed:
            raise denied(hook.name, verdict.status)
        return verdict

    async def _call(
        self, match: MatchedWebhook, attempt: Attempt, *, may_patch: bool
    ) -> WebhookVerdict:
        uid = self._environment.uid()
        address = match.hook.address(self._settings.resolve)
        review = review_of(request_of(attempt, match.kind, uid))
        response = await self._caller.call(address, review)
        return verdict_of(response, uid, may_patch=may_patch)

    def _on_event(self, storage: str, event: ChangeEvent) -> None:
        if storage not in _KINDS:
            return
        if event.change is ChangeType.DELETED:
            self._configurations[storage].pop(event.record.key, None)
        else:
            self._load(storage, event.record)
        self._rebuild()

    def _load(self, storage: str, record: Record) -> None:
        try:
            configuration = scheme.decode_as(_KINDS[storage], record.data)
        except scheme.DecodeError as error:
            # The previous version of the configuration stays in force.
            _log.error(
                "webhook configuration not readable",
                extra={"object": record.key, "why": str(error)},
            )
            return
        self._configurations[storage][record.key] = configuration

    def _rebuild(self) -> None:
        mutating, validating = (tuple(each.values()) for each in self._configurations.values())
        self._mutating = WebhookMatcher(self._registry, hooks_of(mutating))
        self._validating = WebhookMatcher(self._registry, hooks_of(validating))
        every = (*self._mutating.hooks, *self._validating.hooks)
        self._caller.forget({hook.webhook.client_config.ca_bundle for hook in every})
        self._update_chain()

    def _update_chain(self) -> None:
        _place_plugin(self._chain.mutating, self.mutate, wanted=bool(self._mutating.hooks))
        _place_plugin(self._chain.validating, self.validate, wanted=bool(self._validating.hooks))


def _place_plugin(plugins: list[AdmissionPlugin], admit: AdmissionPlugin, *, wanted: bool) -> None:
    if admit in plugins:
        plugins.remove(admit)
    if wanted:
        plugins.insert(0, admit)


def _any_applies(matches: WebhookMatcher, attempt: Attempt) -> bool:
    return any(matches.applies(each, attempt) for each in matches.by_rule(attempt))


def _warn(attempt: Attempt, warnings: Iterable[str]) -> None:
    """Add the warnings, up to a limit: larger ones do not fit into headers."""
    left = _WARNING_BYTES - sum(map(len, attempt.warnings))
    for text in warnings:
        shown = text[:_LONGEST_WARNING]
        left -= len(shown)
        if left < 0:
            return
        if shown and shown.isprintable():
            attempt.warnings.append(shown)
