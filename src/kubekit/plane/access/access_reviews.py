"""Answers the access reviews.

SubjectAccessReview        whether a given user may do something
LocalSubjectAccessReview   the same, in the namespace of the review
SelfSubjectAccessReview    whether the client itself may
SelfSubjectRulesReview     all that the client may do in a namespace
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeVar

from kubekit.api import errors, scheme
from kubekit.api.errors import BadRequest
from kubekit.api.fields import FieldError
from kubekit.api.kinds.authorization import (
    GROUP,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from kubekit.api.kinds.rbac import PolicyRule
from kubekit.client.transport import Document
from kubekit.plane.access import review_rules
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.access.forbidden_errors import not_found
from kubekit.plane.registry.encoding import decode, encode
from kubekit.plane.registry.schema.conformance import MOST_ERRORS
from kubekit.plane.registry.virtual_kinds import VirtualHandler, VirtualRequest
from kubekit.plane.users import User

T = TypeVar("T", SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview)


def virtual_handlers(access: Authorizer) -> dict[tuple[str, str], VirtualHandler]:
    """The handlers of the reviews, for `Registry.virtual_handlers`."""
    reviews = AccessReviews(access)
    asks: Mapping[str, VirtualHandler] = {
        "subjectaccessreviews": reviews.subject,
        "localsubjectaccessreviews": reviews.local,
        "selfsubjectaccessreviews": reviews.oneself,
        "selfsubjectrulesreviews": reviews.rules,
    }
    return {(f"{GROUP}/{plural}", ""): ask for plural, ask in asks.items()}


class AccessReviews:
    """The access reviews of one plane."""

    def __init__(self, access: Authorizer) -> None:
        self._access = access

    def subject(self, request: VirtualRequest) -> Document:
        spec = _read(SubjectAccessReview, request).spec
        _refuse(request, review_rules.subject_errors(spec, request.document["metadata"]))
        return self._answered(request, _subject(spec), spec)

    def local(self, request: VirtualRequest) -> Document:
        spec = _read(LocalSubjectAccessReview, request).spec
        metadata, namespace = request.document["metadata"], request.namespace
        _refuse(request, review_rules.local_errors(spec, metadata, namespace))
        return self._answered(request, _subject(spec), spec)

    def oneself(self, request: VirtualRequest) -> Document:
        spec = _read(SelfSubjectAccessReview, request).spec
        _refuse(request, review_rules.self_errors(spec, request.document["metadata"]))
        return self._answered(request, request.user, spec)

    def rules(self, request: VirtualRequest) -> Document:
        namespace = (request.document.get("spec") or {}).get("namespace", "")
        if not namespace:
            raise BadRequest("no namespace on request")
        held = self._access.rules_for(request.user, namespace)
        rules = [rule.rule for rule in held.rules]
        status: Document = {
            "resourceRules": [_shown(rule) for rule in rules if rule.resources],
            "nonResourceRules": [_shown(rule) for rule in rules if rule.non_resource_urls],
            "incomplete": False,
        }
        if held.missing:
            status["evaluationError"] = not_found(held.missing)
        return {**request.document, "spec": {}, "status": status}

    def _answered(self, request: VirtualRequest, user: User, spec: review_rules.Spec) -> Document:
        decision = self._access.decide(user, _attributes(spec))
        status: Document = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        asked = spec.resource_attributes
        if asked is not None and (unread := review_rules.unread_selectors(asked)):
            status["evaluationError"] = unread
        return {**request.document, "status": status}


def _read(kind: type[T], request: VirtualRequest) -> T:
    request.document.setdefault("spec", {})
    # Its metadata is irrelevant, and not fully validated.
    return scheme.decode_as(kind, {**request.document, "metadata": {}})


def _refuse(request: VirtualRequest, wrong: Iterable[FieldError]) -> None:
    found = list(islice(wrong, MOST_ERRORS))
    if found:
        raise errors.invalid(request.form.resource, "", found)


def _subject(spec: SubjectAccessReviewSpec) -> User:
    return User(spec.user, spec.groups, spec.uid, dict(spec.extra))


def _attributes(spec: review_rules.Spec) -> Attributes:
    asked = spec.resource_attributes
    if asked is None:
        page = spec.non_resource_attributes
        # A path is never empty. Only a rule for all paths matches the path *.
        return Attributes(verb=page.verb, path=page.path or "*") if page else Attributes(verb="")
    return Attributes(
        verb=asked.verb,
        group=asked.group,
        version=asked.version,
        resource=asked.resource,
        subresource=asked.subresource,
        namespace=asked.namespace,
        name=asked.name,
    )


def _shown(rule: PolicyRule) -> Document:
    """A rule as a document, without empty fields."""
    document: Document = decode(encode(rule))
    return document
