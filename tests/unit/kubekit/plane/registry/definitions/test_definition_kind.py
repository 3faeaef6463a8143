"""What a definition may say, in the words of Kubernetes, and what is filled in."""

import copy

import pytest

from kubekit.plane.registry.definitions import definition_kind
from tests.support.kubekit.definition_builders import SCHEMA, definition, version

LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
MIXED = f"may have mixed case, but should otherwise match: {LABEL}"
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
STORAGE = "must have exactly one version marked as storage version"
APPROVAL = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
NOTE = "metadata.annotations[api-approved.kubernetes.io]"
LONG = "a" * 64


def named(name, **spec):
    made = definition(**spec)
    made["metadata"]["name"] = name
    return made


def names(**parts):
    return definition(names=parts)


def warned(text, **parts):
    return definition("widgets", version(deprecationWarning=text, **parts))


def noted(note):
    made = definition(group="foo.k8s.io")
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": note}
    return made


def errors(document, old=None):
    return [str(error) for error in definition_kind.prepare(copy.deepcopy(document), old)]


REFUSED = {
    "group empty": (named("widgets.", group=""), ["spec.group: Required value"]),
    "group without a dot": (
        definition(group="example"),
        ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ),
    "group in capitals": (
        definition(group="Example.com"),
        [f'spec.group: Invalid value: "Example.com": {SUBDOMAIN}'],
    ),
    "group too long": (
        definition(group=f"{'a.' * 125}long"),
        [f'spec.group: Invalid value: "{"a." * 125}long": must be no more than 253 characters'],
    ),
    "name": (
        named("x.y"),
        ['metadata.name: Invalid value: "x.y": must be spec.names.plural+"."+spec.group'],
    ),
    "scope": (
        definition(scope="World"),
        ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
    ),
    "no scope": (definition(scope=""), ["spec.scope: Required value"]),
    "plural": (
        definition("a.bs"),
        [
            f'spec.names.plural: Invalid value: "a.bs": {LABEL}',
            f'spec.names.singular: Invalid value: "a.b": {LABEL}',
            f'spec.names.kind: Invalid value: "A.b": {MIXED}',
            f'spec.names.listKind: Invalid value: "A.bList": {MIXED}',
        ],
    ),
    "no kind": (
        names(kind=""),
        [
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
        ],
    ),
    "kind": (
        names(kind="9W", singular="w", listKind="Ws"),
        [f'spec.names.kind: Invalid value: "9W": {MIXED}'],
    ),
    "list kind": (
        names(listKind="Widget"),
        ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ),
    "singular": (
        names(singular="A/"),
        [f'spec.names.singular: Invalid value: "A/": {LABEL}'],
    ),
    "short names": (
        names(shortNames=["A", "ok", "", LONG]),
        [
            f'spec.names.shortNames[0]: Invalid value: "A": {LABEL}',
            f'spec.names.shortNames[2]: Invalid value: "": {LABEL}',
            f'spec.names.shortNames[3]: Invalid value: "{LONG}": must be no more than 63 characters',
        ],
    ),
    "categories": (
        names(categories=["A"]),
        [f'spec.names.categories[0]: Invalid value: "A": {LABEL}'],
    ),
    "conversion webhook": (
        definition(conversion={"strategy": "Webhook", "webhook": {}}),
        [
            'spec.conversion.strategy: Invalid value: "Webhook": conversion webhooks are not served '
            "here; None changes the apiVersion alone"
        ],
    ),
    "conversion": (
        definition(conversion={"strategy": "Foo"}),
        ['spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'],
    ),
    "no conversion strategy": (
        definition(conversion={}),
        ["spec.conversion.strategy: Required value"],
    ),
    "a webhook for nothing": (
        definition(conversion={"strategy": "None", "webhook": {}}),
        [
            'spec.conversion.webhook: Invalid value: "...": should not be set when strategy is not '
            "set to Webhook"
        ],
    ),
    "no versions": (definition(versions=[]), [f"spec.versions: Invalid value: []: {STORAGE}"]),
    "version twice": (
        definition("widgets", version(), version(stored=False)),
        ['spec.versions: Invalid value: ["v1","v1"]: must contain unique version names'],
    ),
    "nothing stored": (
        definition("widgets", version(stored=False)),
        [f'spec.versions: Invalid value: ["v1"]: {STORAGE}'],
    ),
    "two stored": (
        definition("widgets", version(), version("v2")),
        [f'spec.versions: Invalid value: ["v1","v2"]: {STORAGE}'],
    ),
    "version name": (
        definition("widgets", version("v1.1")),
        [f'spec.versions[0].name: Invalid value: "v1.1": {LABEL}'],
    ),
    "no schema": (
        definition("widgets", version(schema={})),
        ["spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"],
    ),
    "a rule that cannot be read": (
        definition(
            "widgets",
            version(
                schema={
                    "openAPIV3Schema": SCHEMA | {"x-kubernetes-validations": [{"rule": "self.a ="}]}
                }
            ),
        ),
        ["spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value"],
    ),
    "unknown fields": (
        definition(preserveUnknownFields=True),
        [
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
            "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        ],
    ),
    "a warning for nothing": (
        warned("x"),
        [
            'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for '
            "deprecated versions"
        ],
    ),
    "an empty warning": (
        warned("", deprecated=True),
        ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    ),
    "a long warning": (
        warned("ä" * 129, deprecated=True),
        [
            f'spec.versions[0].deprecationWarning: Invalid value: "{"ä" * 129}": must be <= 256 '
            "characters long"
        ],
    ),
    "a warning of two lines": (
        warned("ä\nb", deprecated=True),
        [
            'spec.versions[0].deprecationWarning: Invalid value: "ä\\nb": must only contain '
            "printable UTF-8 characters; non-printable character found at index 2"
        ],
    ),
    "a group of others": (
        definition(group="k8s.io"),
        [f"{NOTE}: Required value: {APPROVAL}, {SEE}"],
    ),
    "an empty approval": (noted(""), [f"{NOTE}: Required value: {APPROVAL}, {SEE}"]),
    "an invalid approval": (
        noted("yes"),
        [
            f'{NOTE}: Invalid value: "yes": {APPROVAL} with either a URL or a reason starting with '
            f'"unapproved", {SEE}'
        ],
    ),
    "an approval that is no address": (
        noted("http://[x"),
        [
            f'{NOTE}: Invalid value: "http://[x": {APPROVAL} with either a URL or a reason starting '
            f'with "unapproved", {SEE}'
        ],
    ),
    "nothing at all": (
        {"metadata": {"name": "x"}},
        [
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
            "spec.group: Required value",
            "spec.scope: Required value",
            f"spec.versions: Invalid value: []: {STORAGE}",
            "spec.names.plural: Required value",
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_name_their_field(case):
    """All of it at once."""
    document, expected = REFUSED[case]
    found = errors(document)
    assert len(found) == len(expected)
    assert [error[: len(words)] for error, words in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    "document",
    [
        definition(),
        definition("widgets", version(served=False)),
        definition("widgets", version(), version("v2", stored=False, deprecated=True)),
        definition(scope="Cluster"),
        names(kind="W-w", shortNames=["w", "w"], categories=["all", "all"]),
        names(singular="widgets", shortNames=["widgets"]),
        warned("bye", deprecated=True),
        noted("https://github.com/kubernetes/kubernetes/pull/78458"),
        noted("unapproved, an experiment"),
        definition(group="foo.x-k8s.io"),
    ],
    ids=str,
)
def test_what_is_right_is_taken(document):
    """Whatever Kubernetes takes."""
    assert errors(document) == []


def prepared(document, old=None):
    """The document once it is complete."""
    made = copy.deepcopy(document)
    assert definition_kind.prepare(made, old) == []
    return made


ESTABLISHED = {"conditions": [{"type": "Established", "status": "True"}]}
FIXED = {
    "group": ({"group": "other.com"}, "spec.group", '"other.com"'),
    "plural": ({"names": {"plural": "gizmos", "kind": "Widget"}}, "spec.names.plural", '"gizmos"'),
    "scope": ({"scope": "Cluster"}, "spec.scope", '"Cluster"'),
    "kind": ({"names": {"plural": "widgets", "kind": "Gizmo"}}, "spec.names.kind", '"Gizmo"'),
}


@pytest.mark.parametrize("case", FIXED)
def test_what_cannot_be_changed(case):
    """A kind that was served stays what it is."""
    change, path, value = FIXED[case]
    old = prepared(definition())
    old["status"] |= ESTABLISHED
    new = old | {"spec": old["spec"] | change}
    assert errors(new, old) == [f"{path}: Invalid value: {value}: field is immutable"]


@pytest.mark.parametrize("case", ["scope", "kind"])
def test_what_can_be_changed_before_a_kind_is_served(case):
    """Nothing can have been stored yet."""
    old = prepared(definition())
    assert errors(old | {"spec": old["spec"] | FIXED[case][0]}, old) == []


def test_what_was_accepted_once_is_not_judged_again():
    """Or a stricter rule would keep the status of an older definition from being written."""
    old = prepared(definition())
    old["spec"]["names"]["singular"] = "NOT ALLOWED ANY MORE"
    assert errors({**old, "status": {"storedVersions": ["v1"]}}, old) == []


def test_an_approval_is_judged_when_it_changes():
    """A definition cannot lose it."""
    old = prepared(noted("unapproved"))
    new = old | {"metadata": old["metadata"] | {"annotations": {}}}
    assert errors(new, old) == [f"{NOTE}: Required value: {APPROVAL}, {SEE}"]


def test_the_generation_counts_changes_of_the_spec():
    """Not those of labels, and not what is filled in anyway."""
    first = prepared(definition())
    same = prepared(first | {"spec": definition()["spec"]}, first)
    other = prepared(
        first | {"spec": first["spec"] | {"versions": [version(deprecated=True)]}}, first
    )

    assert [d["metadata"]["generation"] for d in (first, same, other)] == [1, 1, 2]


def test_flags_that_are_left_out_are_false():
    """A version says whether it is served and stored."""
    bare = {"name": "v2", "schema": {"openAPIV3Schema": SCHEMA}}
    made = prepared(definition("widgets", version(), bare, preserveUnknownFields=False))

    assert made["spec"]["versions"][1] == bare | {"served": False, "storage": False}
    assert "preserveUnknownFields" not in made["spec"]


def test_parts_that_are_shared_with_the_old_one_stay_as_they_are():
    """What is replaced may still be compared with."""
    old = prepared(definition())
    before = copy.deepcopy(old)
    definition_kind.prepare({**old, "metadata": {**old["metadata"]}, "spec": {**old["spec"]}}, old)

    assert old == before
