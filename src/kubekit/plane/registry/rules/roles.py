"""The rules and defaults of roles and bindings that a schema cannot express.

As in `builtin_kinds`, each function completes the document in place, and yields its errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, invalid, not_supported, required
from kubekit.api.kinds.rbac import GROUP
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.rules.object_names import segment_fault, subdomain_fault
from kubekit.plane.registry.rules.selectors import selector_errors

_GROUPS: Final[Mapping[str, str]] = {"User": GROUP, "Group": GROUP, "ServiceAccount": ""}
_KINDS: Final = ("ServiceAccount", "User", "Group")


def role(document: Document, _old: Document | None) -> Iterator[FieldError]:
    """Roles: the rules must be about resources."""
    yield from _rules_errors(document, namespaced=True)


def cluster_role(document: Document, _old: Document | None) -> Iterator[FieldError]:
    """ClusterRoles: the rules are about resources or paths, or aggregated from other roles."""
    yield from _rules_errors(document, namespaced=False)
    sum_of = document.get("aggregationRule")
    if sum_of is None:
        document.pop("aggregationRule", None)
        return
    path = Path("aggregationRule.clusterRoleSelectors")
    selectors = sum_of.get("clusterRoleSelectors") or []
    if not selectors:
        yield required(
            path, "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )
    for position, selector in enumerate(selectors):
        wrong = [*selector_errors(selector, path.at(position))]
        yield from wrong
        if wrong:
            yield invalid(path.at(position), None, "invalid label selector.")


def role_binding(document: Document, old: Document | None) -> Iterator[FieldError]:
    """RoleBindings: they grant a Role of the namespace, or a ClusterRole within the namespace."""
    yield from _binding_errors(document, old, ("Role", "ClusterRole"), namespaced=True)


def cluster_role_binding(document: Document, old: Document | None) -> Iterator[FieldError]:
    """ClusterRoleBindings: they grant a ClusterRole in all namespaces."""
    yield from _binding_errors(document, old, ("ClusterRole",), namespaced=False)


def _rules_errors(document: Document, *, namespaced: bool) -> Iterator[FieldError]:
    rules = [_without_nulls(rule) for rule in document.get("rules") or ()]
    document["rules"] = rules or None  # Go writes no rules as null, and clients compare
    for position, rule in enumerate(rules):
        yield from _rule_errors(Path("rules").at(position), rule, namespaced=namespaced)


def _rule_errors(path: Path, rule: Document, *, namespaced: bool) -> Iterator[FieldError]:
    if not rule.get("verbs"):
        yield required(path.child("verbs"), "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if not urls:
        if not rule.get("apiGroups"):
            message = "resource rules must supply at least one api group"
            yield required(path.child("apiGroups"), message)
        if not rule.get("resources"):
            message = "resource rules must supply at least one resource"
            yield required(path.child("resources"), message)
        return
    urls_path = path.child("nonResourceURLs")
    if namespaced:
        yield invalid(urls_path, urls, "namespaced rules cannot apply to non-resource URLs")
    if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
        message = "rules cannot apply to both regular resources and non-resource URLs"
        yield invalid(urls_path, urls, message)


def _binding_errors(
    document: Document, old: Document | None, kinds: Sequence[str], *, namespaced: bool
) -> Iterator[FieldError]:
    document["roleRef"] = ref = {"apiGroup": GROUP} | _set_fields(document.get("roleRef"))
    subjects = [_completed(subject) for subject in document.pop("subjects", None) or ()]
    if subjects:
        document["subjects"] = subjects
    if old is not None and ref != old.get("roleRef"):
        values = (ref["apiGroup"], ref.get("kind", ""), ref.get("name", ""))
        shown = dict(zip(("APIGroup", "Kind", "Name"), values, strict=True))  # as Go spells them
        yield invalid("roleRef", shown, "cannot change roleRef")
    yield from _ref_errors(ref, kinds)
    for position, subject in enumerate(subjects):
        path = Path("subjects").at(position)
        yield from _subject_errors(path, subject, namespaced=namespaced)


def _ref_errors(ref: Document, kinds: Sequence[str]) -> Iterator[FieldError]:
    path = Path("roleRef")
    if ref["apiGroup"] != GROUP:
        yield not_supported(path.child("apiGroup"), ref["apiGroup"], (GROUP,))
    if ref.get("kind", "") not in kinds:
        yield not_supported(path.child("kind"), ref.get("kind", ""), kinds)
    if not ref.get("name"):
        yield required(path.child("name"))
    elif why := segment_fault(ref["name"]):
        yield invalid(path.child("name"), ref["name"], why)


def _subject_errors(path: Path, subject: Document, *, namespaced: bool) -> Iterator[FieldError]:
    kind, name, group = (subject.get(part, "") for part in ("kind", "name", "apiGroup"))
    if not name:
        yield required(path.child("name"))
    if kind not in _GROUPS:
        yield not_supported(path.child("kind"), kind, _KINDS)
        return
    if kind == "ServiceAccount" and name and (why := subdomain_fault(name)):
        yield invalid(path.child("name"), name, why)
    if group != _GROUPS[kind]:
        yield not_supported(path.child("apiGroup"), group, (_GROUPS[kind],))
    if kind == "ServiceAccount" and not namespaced and not subject.get("namespace"):
        yield required(path.child("namespace"))


def _completed(subject: Document) -> Document:
    """A subject with the API group of its kind."""
    given = _set_fields(subject)
    group = _GROUPS.get(given.get("kind", ""))
    return {**given, "apiGroup": group} if group and "apiGroup" not in given else given


def _set_fields(given: Any) -> Document:  # noqa: ANN401 - an object, or nothing
    """The fields with a value: an empty string is the same as none."""
    return {name: value for name, value in (given or {}).items() if value}


def _without_nulls(rule: Document) -> Document:
    return {name: values for name, values in rule.items() if values is not None}
