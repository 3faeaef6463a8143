"""Which policy an object on the hub belongs to.

A policy claims an object and keeps it until the policy is deleted. The claim is written on the
object, so that it does not depend on the order of events.
"""

from collections.abc import Iterable

from compute.api.karmada import PropagationPolicy, ResourceSelector
from compute.federation import karmada_keys
from kubekit.api.meta import Object, with_metadata
from kubekit.api.selectors import label_selectors
from kubekit.client.client import K

# How exactly a selector matches an object.
_NOT = 0
_ALL = 1
_LABELLED = 2
_NAMED = 3


def claimant(template: Object, policies: Iterable[PropagationPolicy]) -> PropagationPolicy | None:
    """The policy that has claimed the object, or else the one to claim it now; None if none matches.

    Of several that match, the highest priority wins, then the most exact selector, then the first
    by name. A policy that is being deleted claims nothing new.
    """
    policies = list(policies)
    for policy in policies:
        if claimed_by(template) == policy.metadata.name:
            return policy
    matching = [p for p in policies if not p.deleting and _exactness(p, template)]
    return min(matching, key=lambda policy: _rank(policy, template), default=None)


def concerns(policy: PropagationPolicy, template: Object) -> bool:
    """Whether the policy has claimed the object, or matches it."""
    return claimed_by(template) == policy.metadata.name or _exactness(policy, template) != _NOT


def claimed_by(template: Object) -> str:
    """The name of the policy that claimed the object; empty if none did."""
    annotations = template.metadata.annotations
    in_namespace = annotations.get(karmada_keys.POLICY_NAMESPACE) == template.metadata.namespace
    return annotations.get(karmada_keys.POLICY_NAME, "") if in_namespace else ""


def claimed(template: K, policy: PropagationPolicy) -> K:
    """The object with the policy's claim on it."""
    meta = template.metadata
    return with_metadata(
        template,
        labels=meta.labels | claim_labels(policy),
        annotations=meta.annotations | claim_annotations(policy),
    )


def claim_labels(policy: PropagationPolicy) -> dict[str, str]:
    return {karmada_keys.POLICY_ID: policy.metadata.labels[karmada_keys.POLICY_ID]}


def claim_annotations(policy: PropagationPolicy) -> dict[str, str]:
    meta = policy.metadata
    return {karmada_keys.POLICY_NAME: meta.name, karmada_keys.POLICY_NAMESPACE: meta.namespace}


def _rank(policy: PropagationPolicy, template: Object) -> tuple[int, int, str]:
    return -policy.spec.priority, -_exactness(policy, template), policy.metadata.name


def _exactness(policy: PropagationPolicy, template: Object) -> int:
    selectors = policy.spec.resource_selectors
    return max((_match(selector, template) for selector in selectors), default=_NOT)


def _match(selector: ResourceSelector, template: Object) -> int:
    """How exactly a selector matches an object. An invalid selector matches nothing."""
    meta = template.metadata
    same_kind = (selector.api_version, selector.kind) == (template.api_version, template.kind)
    if not same_kind or selector.namespace not in ("", meta.namespace):
        return _NOT
    if selector.name:
        return _NAMED if selector.name == meta.name else _NOT
    if selector.label_selector is None:
        return _ALL
    try:
        matches = label_selectors.from_typed(selector.label_selector).matches(meta.labels)
    except label_selectors.SelectorError:
        return _NOT
    return _LABELLED if matches else _NOT
