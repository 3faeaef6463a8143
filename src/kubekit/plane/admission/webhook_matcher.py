"""Finds the webhooks to call for a change.

Rules are evaluated once per verb, kind and subresource; selectors and conditions, for each change.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from kubekit.api import errors
from kubekit.api.kinds import admission
from kubekit.api.kinds.core import Namespace
from kubekit.api.selectors.label_selectors import Selector
from kubekit.client.transport import Document
from kubekit.plane.admission.admission_reviews import (
    NAMESPACES,
    OPERATIONS,
    encode,
    namespace_of,
    request_of,
)
from kubekit.plane.admission.compiled_webhooks import CompiledWebhook
from kubekit.plane.admission.webhook_errors import undecided
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.rules.match_conditions import Undecided, all_hold

_OWN_LABELS: Final = frozenset({"create", "update"})


class MatchedWebhook(NamedTuple):
    """A webhook, and the version of the object that it gets."""

    hook: CompiledWebhook
    kind: Kind


class _Meta(msgspec.Struct, gc=False):
    labels: dict[str, str] = {}


class _Labelled(msgspec.Struct, gc=False):
    metadata: _Meta


_labelled: Final = msgspec.json.Decoder(_Labelled).decode


class WebhookMatcher:
    """The mutating or the validating webhooks of one plane.

    They are not called for changes of webhook configurations.
    """

    def __init__(self, registry: Registry, hooks: tuple[CompiledWebhook, ...]) -> None:
        self.hooks = hooks
        self._registry = registry
        self._kinds: Kinds | None = None
        self._by_rule: dict[tuple[Kind, str, str], tuple[MatchedWebhook, ...]] = {}

    def by_rule(self, attempt: Attempt) -> tuple[MatchedWebhook, ...]:
        """The webhooks whose rules match such a change, in calling order."""
        if self._registry.kinds is not self._kinds:
            self._by_rule.clear()
            self._kinds = self._registry.kinds
        key = attempt.kind, attempt.verb, attempt.subresource
        matches = self._by_rule.get(key)
        if matches is None:
            matches = self._by_rule[key] = tuple(self._match_rules(*key))
        return matches

    def applies(self, match: MatchedWebhook, attempt: Attempt) -> bool:
        """Whether the selectors and conditions of the webhook match this change.

        Raises `Forbidden` if its conditions cannot be evaluated and its failure policy is Fail.
        """
        hook = match.hook
        if hook.namespaces is not None and not self._is_in(hook.namespaces, attempt):
            return False
        if hook.objects is not None and not _is_about(hook.objects, attempt):
            return False
        return not hook.conditions or _holds(match, attempt)

    def _match_rules(self, kind: Kind, verb: str, part: str) -> Iterator[MatchedWebhook]:
        if kind.resource.group == admission.GROUP:
            return
        operation = OPERATIONS[verb]
        for hook in self.hooks:
            for version in self._versions(hook, kind):
                if hook.matches(operation, version, part):
                    yield MatchedWebhook(hook, version)
                    break

    def _versions(self, hook: CompiledWebhook, kind: Kind) -> Iterator[Kind]:
        """The version that the client used, then the others if the webhook accepts equivalent ones."""
        yield kind
        if hook.takes_other_versions:
            for other in self._registry.kinds:
                if other.storage == kind.storage and other is not kind:
                    yield other

    def _is_in(self, selector: Selector, attempt: Attempt) -> bool:
        """Whether the namespace of the change matches. Without a namespace it always does."""
        namespace = namespace_of(attempt)
        if not namespace:
            return True
        if attempt.kind.storage == NAMESPACES and not attempt.subresource:
            if attempt.verb in _OWN_LABELS:
                return selector.matches(_labels(attempt.document))
            return selector.matches(_labels(attempt.old))
        return selector.matches(self._labels_of(namespace, attempt.verb))

    def _labels_of(self, namespace: str, verb: str) -> Mapping[str, str]:
        record = self._registry.store.find(NAMESPACES, namespace)
        if record is not None:
            return _labelled(record.data).metadata.labels
        # The namespace was deleted meanwhile: deleting what is left in it must stay possible.
        if verb == "delete" or self._registry.kinds.find("", "v1", "namespaces") is None:
            return {}
        raise errors.not_found(Namespace.RESOURCE, namespace)


def _is_about(selector: Selector, attempt: Attempt) -> bool:
    """Whether the selector matches the old or the new object."""
    documents = (attempt.document, attempt.old)
    return any(selector.matches(_labels(each)) for each in documents if each is not None)


def _labels(document: Document | None) -> Mapping[str, str]:
    labels: Mapping[str, str] = (document or {}).get("metadata", {}).get("labels") or {}
    return labels


def _holds(match: MatchedWebhook, attempt: Attempt) -> bool:
    hook, request = match.hook, request_of(attempt, match.kind, "")
    try:
        return all_hold(hook.conditions, msgspec.json.decode(encode(request)))
    except Undecided as doubt:
        if hook.ignores_failure:
            return False
        raise undecided(attempt.kind.resource, attempt.name, str(doubt)) from doubt
