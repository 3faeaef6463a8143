"""The rules and defaults of webhook configurations that a schema cannot express.

As in `builtin_kinds`, each function completes the document in place and yields its errors; parts
that may be shared with the old document are never changed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, Problem, invalid, not_supported, required
from kubekit.api.selectors import label_syntax
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.encoding import same
from kubekit.plane.registry.rules.selectors import selector_errors
from kubekit.plane.registry.rules.webhook_addresses import client_errors, subdomain_fault

ExpressionCheck = Callable[[str], str | None]
"""The error in the expression of a condition; None if it is valid."""

_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_VERSIONS: Final = ("v1", "v1beta1")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
}
_REINVOCATION: Final = ("IfNeeded", "Never")
_DEFAULTS: Final[Mapping[str, object]] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_LONGEST_WAIT: Final = 30
_MOST_CONDITIONS: Final = 64
_PARTS_OF_A_NAME: Final = 3
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LABEL_LIMIT: Final = 63
_LABEL_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_LABEL.pattern}')"
)
_LISTS: Final = (
    ("apiGroups", "API groups", True),
    ("apiVersions", "API versions", False),
)


def validating(
    check: ExpressionCheck,
) -> Callable[[Document, Document | None], Iterator[FieldError]]:
    """The rules of a ValidatingWebhookConfiguration, with this check of its conditions."""
    return lambda document, old: _configuration(document, old, check, {})


def mutating(check: ExpressionCheck) -> Callable[[Document, Document | None], Iterator[FieldError]]:
    """The rules of a MutatingWebhookConfiguration, with this check of its conditions."""
    more = {"reinvocationPolicy": "Never"}
    return lambda document, old: _configuration(document, old, check, more)


def _configuration(
    document: Document, old: Document | None, check: ExpressionCheck, more: Mapping[str, object]
) -> Iterator[FieldError]:
    hooks = [_completed(hook, more) for hook in document.get("webhooks") or ()]
    document.pop("webhooks", None)
    if hooks:
        document["webhooks"] = hooks
    _count_generations(document, old)
    for position, hook in enumerate(hooks):
        path = Path("webhooks").at(position)
        yield from _hook_errors(hook, path, check)
        yield from _version_errors(hook.get("admissionReviewVersions") or (), path)


def _count_generations(document: Document, old: Document | None) -> None:
    """The generation counts changes of the webhooks, as that of a custom kind does."""
    number = 1
    if old is not None:
        changed = not same(old.get("webhooks"), document.get("webhooks"))
        number = old["metadata"].get("generation", 1) + changed
    document["metadata"]["generation"] = number


def _completed(hook: Document, more: Mapping[str, object]) -> Document:
    given = {name: value for name, value in hook.items() if value is not None}
    whole = {**_DEFAULTS, **more, **given}
    if rules := whole.pop("rules", None):
        whole["rules"] = [{"scope": "*"} | _set_fields(rule) for rule in rules]
    client = whole.get("clientConfig", {})
    if client.get("service") is not None:
        whole["clientConfig"] = client | {"service": {"port": 443} | _set_fields(client["service"])}
    return whole


def _set_fields(part: Mapping[str, Any]) -> Document:
    """The fields with a value. Null counts as absent."""
    return {name: value for name, value in part.items() if value is not None}


def _hook_errors(hook: Document, path: Path, check: ExpressionCheck) -> Iterator[FieldError]:
    yield from _name_errors(hook.get("name", ""), path.child("name"))
    for position, rule in enumerate(hook.get("rules", ())):
        yield from _rule_errors(rule, path.child("rules").at(position))
    for name, choices in _CHOICES.items():
        if hook[name] not in choices:
            yield not_supported(path.child(name), hook[name], choices)
    yield from _side_effect_errors(hook, path.child("sideEffects"))
    if not 1 <= hook["timeoutSeconds"] <= _LONGEST_WAIT:
        message = f"the timeout value must be between 1 and {_LONGEST_WAIT} seconds"
        yield invalid(path.child("timeoutSeconds"), hook["timeoutSeconds"], message)
    for name in ("namespaceSelector", "objectSelector"):
        yield from selector_errors(hook[name], path.child(name))
    yield from client_errors(hook.get("clientConfig", {}), path.child("clientConfig"))
    conditions = hook.get("matchConditions", ())
    yield from _condition_errors(conditions, path.child("matchConditions"), check)
    if hook.get("reinvocationPolicy", "Never") not in _REINVOCATION:
        here = path.child("reinvocationPolicy")
        yield not_supported(here, hook["reinvocationPolicy"], _REINVOCATION)


def _name_errors(name: str, path: Path) -> Iterator[FieldError]:
    if not name:
        yield required(path)
    elif fault := subdomain_fault(name):
        yield invalid(path, name, fault)
    elif name.count(".") < _PARTS_OF_A_NAME - 1:
        message = "should be a domain with at least three segments separated by dots"
        yield invalid(path, name, message)


def _side_effect_errors(hook: Document, path: Path) -> Iterator[FieldError]:
    effects = hook.get("sideEffects")
    if effects is None:
        yield required(path, f"must specify one of {', '.join(_SIDE_EFFECTS)}")
    elif effects not in _SIDE_EFFECTS:
        yield not_supported(path, effects, _SIDE_EFFECTS)


def _rule_errors(rule: Document, path: Path) -> Iterator[FieldError]:
    yield from _operation_errors(rule.get("operations", ()), path.child("operations"))
    for name, noun, may_be_empty in _LISTS:
        yield from _list_errors(rule.get(name, ()), path.child(name), noun, may_be_empty)
    yield from _resource_errors(rule.get("resources", ()), path.child("resources"))
    if rule["scope"] not in _SCOPES:
        yield not_supported(path.child("scope"), rule["scope"], _SCOPES)


def _operation_errors(operations: Sequence[str], path: Path) -> Iterator[FieldError]:
    if not operations:
        yield required(path)
    yield from _not_alone(operations, path, "operations")
    for position, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            yield not_supported(path.at(position), operation, _OPERATIONS)


def _list_errors(
    given: Sequence[str],
    path: Path,
    noun: str,
    may_be_empty: bool,  # noqa: FBT001 - a column of a table
) -> Iterator[FieldError]:
    if not given:
        yield required(path)
    yield from _not_alone(given, path, noun)
    if not may_be_empty:
        yield from (required(path.at(position)) for position, text in enumerate(given) if not text)


def _not_alone(given: Sequence[str], path: Path, noun: str) -> Iterator[FieldError]:
    if len(given) > 1 and "*" in given:
        yield invalid(path, list(given), f"if '*' is present, must not specify other {noun}")


def _resource_errors(resources: Sequence[str], path: Path) -> Iterator[FieldError]:
    """The errors of entries that another entry of the list already covers."""
    if not resources:
        yield required(path)
    whole: set[str] = set()  # resources with all their subresources
    everywhere: set[str] = set()  # subresources of every resource
    for position, text in enumerate(resources):
        resource, slash, part = text.partition("/")
        here = path.at(position)
        if not text:
            yield required(here)
        if slash and resource in whole:
            yield invalid(here, text, f"if '{resource}/*' is present, must not specify {text}")
        if slash and part in everywhere:
            yield invalid(here, text, f"if '*/{part}' is present, must not specify {text}")
        if part == "*":
            whole.add(resource)
        if slash and resource == "*":
            everywhere.add(part)
    yield from _covered_errors(resources, path)


def _covered_errors(resources: Sequence[str], path: Path) -> Iterator[FieldError]:
    if len(resources) > 1 and "*/*" in resources:
        message = "if '*/*' is present, must not specify other resources"
        yield invalid(path, list(resources), message)
    if "*" in resources and sum("/" not in text for text in resources) > 1:
        message = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, list(resources), message)


def _version_errors(versions: Sequence[str], hook: Path) -> Iterator[FieldError]:
    path = hook.child("admissionReviewVersions")
    if not versions:
        yield required(path, f"must specify one of {', '.join(_VERSIONS)}")
        return
    for position, version in enumerate(versions):
        if version in versions[:position]:
            yield invalid(path.at(position), version, "duplicate version")
        if len(version) > _LABEL_LIMIT or _LABEL.fullmatch(version) is None:
            yield invalid(path.at(position), version, _LABEL_RULE)
    if not set(_VERSIONS).intersection(versions):
        message = f"must include at least one of {', '.join(_VERSIONS)}"
        yield invalid(path, list(versions), message)


def _condition_errors(
    conditions: Sequence[Document], path: Path, check: ExpressionCheck
) -> Iterator[FieldError]:
    if len(conditions) > _MOST_CONDITIONS:
        message = f"must have at most {_MOST_CONDITIONS} items"
        yield FieldError(path, Problem.TOO_MANY, message, len(conditions))
        return
    for position, condition in enumerate(conditions):
        here = path.at(position)
        yield from _expression_errors(condition.get("expression") or "", here, check)
        yield from _condition_name_errors(condition.get("name") or "", here.child("name"))


def _expression_errors(expression: str, path: Path, check: ExpressionCheck) -> Iterable[FieldError]:
    here = path.child("expression")
    if not expression.strip():
        yield required(here)
    elif fault := check(expression):
        yield invalid(here, expression, fault)


def _condition_name_errors(name: str, path: Path) -> Iterator[FieldError]:
    if not name:
        yield required(path)
    elif fault := label_syntax.key_fault(name):
        yield invalid(path, name, fault)
