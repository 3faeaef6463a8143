"""Compiled webhooks: their rules and selectors, and their addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kubekit.api.kinds.admission import (
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
)
from kubekit.api.kinds.webhook_clients import ServiceReference
from kubekit.api.meta import LabelSelector
from kubekit.api.selectors import label_selectors
from kubekit.api.selectors.label_selectors import Selector
from kubekit.plane.admission.webhook_addresses import Resolve, WebhookAddress
from kubekit.plane.admission.webhook_errors import CallFailed
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules.match_conditions import CompiledCondition, compiled

Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration

_ALL: Final = "*"
_HARMLESS: Final = frozenset({"None", "NoneOnDryRun"})
_VERSION: Final = "v1"


@dataclass(frozen=True, eq=False)
class CompiledWebhook:
    """One webhook of a validated configuration."""

    webhook: ValidatingWebhook

    @property
    def name(self) -> str:
        return self.webhook.name

    @property
    def ignores_failure(self) -> bool:
        return self.webhook.failure_policy == "Ignore"

    @property
    def supports_dry_run(self) -> bool:
        """Whether a call for a dry run has no side effects."""
        return self.webhook.side_effects in _HARMLESS

    @property
    def reinvoked(self) -> bool:
        """Whether it is called again after later webhooks changed the object."""
        hook = self.webhook
        return isinstance(hook, MutatingWebhook) and hook.reinvocation_policy == "IfNeeded"

    @property
    def takes_other_versions(self) -> bool:
        return self.webhook.match_policy != "Exact"

    @cached_property
    def namespaces(self) -> Selector | None:
        """The selector of namespaces; None for all."""
        return _selector(self.webhook.namespace_selector)

    @cached_property
    def objects(self) -> Selector | None:
        """The selector of objects; None for all."""
        return _selector(self.webhook.object_selector)

    @cached_property
    def conditions(self) -> tuple[CompiledCondition, ...]:
        return tuple(compiled(each.expression for each in self.webhook.match_conditions))

    def matches(self, operation: str, kind: Kind, part: str) -> bool:
        """Whether a rule matches this operation on this subresource of the kind."""
        return any(_fits(rule, operation, kind, part) for rule in self.webhook.rules)

    def address(self, resolve: Resolve) -> WebhookAddress:
        """The address to call. Raises `CallFailed` if it cannot be resolved."""
        hook = self.webhook
        if _VERSION not in hook.admission_review_versions:
            read = ", ".join(hook.admission_review_versions)
            raise CallFailed(
                f"it reads AdmissionReview only in {read}; this server writes {_VERSION}"
            )
        client, seconds = hook.client_config, hook.timeout_seconds or 10
        if client.service is None:
            return WebhookAddress(client.url or "", client.ca_bundle, seconds)
        return _of_service(client.service, client.ca_bundle, seconds, resolve)


def hooks_of(configurations: Sequence[Configuration]) -> tuple[CompiledWebhook, ...]:
    """The webhooks of all configurations in calling order: by the name of the configuration."""
    ordered = sorted(configurations, key=lambda configuration: configuration.metadata.name)
    return tuple(CompiledWebhook(webhook) for each in ordered for webhook in each.webhooks)


def _of_service(
    service: ServiceReference, bundle: str, seconds: int, resolve: Resolve
) -> WebhookAddress:
    name, path = f"{service.name}.{service.namespace}.svc", service.path or ""
    found = resolve(service)
    if found is None:
        nominal = WebhookAddress(f"https://{name}:{service.port or 443}{path}", "", seconds)
        raise CallFailed(
            f'failed to call webhook: Post "{nominal.shown}": service "{service.name}" not found: '
            "this server has no Services; give the webhook a clientConfig.url"
        )
    return WebhookAddress(f"{found.rstrip('/')}{path}", bundle, seconds, name)


def _selector(typed: LabelSelector | None) -> Selector | None:
    if typed is None:
        return None
    found = label_selectors.from_typed(typed)
    return found if found.requirements else None


def _fits(rule: RuleWithOperations, operation: str, kind: Kind, part: str) -> bool:
    resource = kind.resource
    return (
        _listed(rule.operations, operation)
        and _listed(rule.api_groups, resource.group)
        and _listed(rule.api_versions, resource.version)
        and any(_matches_resource(text, resource.plural, part) for text in rule.resources)
        and _is_in_scope(rule.scope, kind)
    )


def _listed(given: Sequence[str], wanted: str) -> bool:
    return _ALL in given or wanted in given


def _matches_resource(text: str, plural: str, part: str) -> bool:
    """Whether ``pods``, ``pods/status``, ``pods/*``, ``*/status``, ``*`` or ``*/*`` matches it."""
    resource, _, subresource = text.partition("/")
    return resource in (_ALL, plural) and subresource in (part, _ALL)


def _is_in_scope(scope: str | None, kind: Kind) -> bool:
    return scope in (None, _ALL) or kind.resource.namespaced == (scope == "Namespaced")
