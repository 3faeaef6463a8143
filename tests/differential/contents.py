"""What objects of each kind may hold, and in which ways it may be wrong."""

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from kubekit.api.meta import Object
from tests.support.compute import builders

Document = dict[str, Any]
Fields = Callable[[Random], Document]


def picked(chance: Random, fields: Document, share: float = 0.5) -> Document:
    """Some of the fields."""
    return {key: value for key, value in fields.items() if chance.random() < share}


def config_map(chance: Random) -> Document:
    data = picked(
        chance, {"a": chance.choice(("1", "2")), "b": "", "c.d": "line\nline", "_x-": "é"}
    )
    return picked(chance, {"data": data, "binaryData": {"raw": "AAEC"}}, 0.7) | picked(
        chance, {"immutable": chance.choice((True, False))}, 0.1
    )


def wrong_config_map(chance: Random) -> Document:
    return chance.choice(
        (
            {"data": {"a": 1}},
            {"data": {"a/b": "1"}},
            {"data": {"..": "1"}},
            {"data": {"": "1"}},
            {"data": {"a": "1"}, "binaryData": {"a": "AAEC"}},
            {"binaryData": {"a": "not base64!"}},
            {"data": []},
            {"data": "text"},
            {"immutable": "yes"},
            {"data": {"a": None}},
            {"data": {"x" * 254: "1"}},
            {"immutable": None, "data": None},
        )
    )


def secret(chance: Random) -> Document:
    fields = picked(
        chance, {"data": picked(chance, {"a": "YQ==", "b": ""}), "stringData": {"c": "text"}}
    )
    kind = chance.choice(("Opaque", "example.test/own", "kubernetes.io/basic-auth", ""))
    if kind == "kubernetes.io/basic-auth":
        fields["stringData"] = {"username": "me"}
    return fields | picked(chance, {"type": kind}) | picked(chance, {"immutable": True}, 0.1)


def wrong_secret(chance: Random) -> Document:
    return chance.choice(
        (
            {"data": {"a": "not base64!"}},
            {"data": {"a/b": "YQ=="}},
            {"stringData": {"a": 1}},
            {"type": "kubernetes.io/tls", "data": {"tls.crt": "YQ=="}},
            {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "YQ=="}},
            {"type": "kubernetes.io/ssh-auth"},
            {"type": "kubernetes.io/basic-auth"},
            {"type": "kubernetes.io/service-account-token"},
            {"type": 7},
            {"data": {"a": 7}},
        )
    )


def namespace(chance: Random) -> Document:
    return picked(chance, {"spec": {}}, 0.1)


def wrong_namespace(chance: Random) -> Document:
    return chance.choice(
        (
            {"spec": {"finalizers": "kubernetes"}},
            {"spec": []},
        )
    )


def lease(chance: Random) -> Document:
    spec = picked(
        chance,
        {
            "holderIdentity": chance.choice(("me", "you")),
            "leaseDurationSeconds": chance.choice((1, 15)),
            "acquireTime": "2026-01-02T03:04:05.678901Z",
            "renewTime": "2026-01-02T04:04:05.000000+01:00",
            "leaseTransitions": chance.choice((0, 3)),
        },
    )
    return picked(chance, {"spec": spec}, 0.9)


def wrong_lease(chance: Random) -> Document:
    return {
        "spec": chance.choice(
            (
                {"leaseDurationSeconds": 0},
                {"leaseDurationSeconds": -1},
                {"leaseDurationSeconds": "15"},
                {"leaseDurationSeconds": 1.5},
                {"leaseTransitions": -1},
                {"renewTime": "yesterday"},
                {"renewTime": "2026-01-02T03:04:05.1Z"},
                {"renewTime": 7},
                {"acquireTime": ""},
                {"holderIdentity": 7},
                [],
            )
        )
    }


def service_account(chance: Random) -> Document:
    return picked(
        chance,
        {
            "automountServiceAccountToken": chance.choice((True, False)),
            "imagePullSecrets": [{"name": "pull"}, {}],
            "secrets": [{"name": chance.choice("xy")}],
        },
    )


def wrong_service_account(chance: Random) -> Document:
    return chance.choice(
        (
            {"automountServiceAccountToken": "no"},
            {"imagePullSecrets": {"name": "x"}},
            {"secrets": ["x"]},
            {"secrets": [{"name": 1}]},
        )
    )


def rules(chance: Random) -> list[Document]:
    rules: list[Document] = [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "resourceNames": ["a"]},
    ]
    return rules[: chance.randint(1, 2)]


def role(chance: Random) -> Document:
    return picked(chance, {"rules": rules(chance)}, 0.9)


def cluster_role(chance: Random) -> Document:
    urls = [{"nonResourceURLs": ["/healthz", "/metrics/*"], "verbs": ["get"]}]
    return picked(chance, {"rules": rules(chance) + chance.choice((urls, []))}, 0.9)


def wrong_role(chance: Random) -> Document:
    return {
        "rules": chance.choice(
            (
                [{"apiGroups": [""], "resources": ["configmaps"]}],
                [{"apiGroups": [""], "verbs": ["get"]}],
                [{"resources": ["configmaps"], "verbs": ["get"]}],
                [{"nonResourceURLs": ["/healthz"], "verbs": []}],
                [
                    {
                        "nonResourceURLs": ["/a"],
                        "resources": ["b"],
                        "apiGroups": [""],
                        "verbs": ["x"],
                    }
                ],
                [{"verbs": "get"}],
                [{}],
                {},
                "text",
            )
        )
    }


def binding(*, cluster: bool) -> Fields:
    def fields(chance: Random) -> Document:
        subjects = [
            {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"},
            {"kind": "Group", "name": "ops"},
            {"kind": "ServiceAccount", "name": "bot", "namespace": "default"},
        ]
        kind = "ClusterRole" if cluster else chance.choice(("Role", "ClusterRole"))
        ref = {"kind": kind, "name": chance.choice(("view", "view", "edit"))}
        ref |= picked(chance, {"apiGroup": "rbac.authorization.k8s.io"}, 0.8)
        return {"roleRef": ref} | picked(
            chance, {"subjects": subjects[: chance.randint(0, 3)]}, 0.9
        )

    return fields


def wrong_binding(chance: Random) -> Document:
    good = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    return chance.choice(
        (
            {},
            {"roleRef": {}},
            {"roleRef": good | {"kind": "Thing"}},
            {"roleRef": good | {"apiGroup": "other"}},
            {"roleRef": good | {"name": "a/b"}},
            {"roleRef": good, "subjects": [{"kind": "Robot", "name": "x"}]},
            {"roleRef": good, "subjects": [{"kind": "User", "name": ""}]},
            {"roleRef": good, "subjects": [{"kind": "ServiceAccount", "name": "a_b"}]},
            {"roleRef": good, "subjects": [{"kind": "User", "name": "x", "apiGroup": "y"}]},
            {"roleRef": good, "subjects": [{"kind": "ServiceAccount", "name": "x"}]},
            {"roleRef": "view"},
        )
    )


def widget(chance: Random) -> Document:
    spec = {"colour": chance.choice(("red", "green", "blue"))} | picked(
        chance,
        {
            "replicas": chance.choice((0, 1, 5)),
            "title": chance.choice(("ab", "title")),
            "weight": chance.choice((1, 0.5, 1.0)),
            "big": chance.choice((1, 2**53 + 1)),
            "enabled": chance.choice((True, False)),
            "note": chance.choice(("x", None)),
            "port": chance.choice((80, "http")),
            "tags": chance.sample("abcd", chance.randint(0, 3)),
            "parts": [
                {"name": name} | picked(chance, {"size": chance.choice((1, 2))})
                for name in chance.sample("xyz", chance.randint(0, 2))
            ],
            "options": picked(chance, {"mode": "slow", "depth": 3}),
            "words": picked(chance, {"a": "1", "b": "2"}),
            "anything": chance.choice(({"x": [1, {"y": None}], "z": "text"}, {"n": None})),
        },
        0.35,
    )
    return {"spec": spec} | picked(chance, {"status": {"phase": "Sneaked"}}, 0.1)


def wrong_widget(chance: Random) -> Document:
    red = {"colour": "red"}
    wrong: tuple[Any, ...] = (
        {},
        {"colour": "pink"},
        {"colour": 7},
        {"colour": None},
        red | {"replicas": -1},
        red | {"replicas": 1001},
        red | {"replicas": "3"},
        red | {"replicas": 1.5},
        red | {"title": "x"},
        red | {"title": "Not Lower", "weight": 0},
        red | {"title": "toolongforthis"},
        red | {"weight": "heavy"},
        red | {"tags": ["a", "a"]},
        red | {"tags": ["a", "b", "c", "d"]},
        red | {"tags": [1]},
        red | {"parts": [{"name": "x"}, {"name": "x"}]},
        red | {"parts": [{"size": 1}]},
        red | {"parts": [{"name": ""}]},
        red | {"parts": {"name": "x"}},
        red | {"port": True},
        red | {"words": {"a": 1}},
        red | {"anything": []},
        red | {"enabled": "true"},
        red | {"enabled": None},
        red | {"options": None},
        red | {"big": 2**63},
        red | {"unknown": 1},
        red | {"options": {"other": 1}},
        "text",
        None,
        [],
    )
    return {"spec": chance.choice(wrong)}


def widget_status(chance: Random) -> Document:
    return picked(
        chance,
        {
            "phase": chance.choice(("New", "Old")),
            "replicas": chance.choice((0, 2)),
            "selector": "app=web",
            "seen": chance.choice((1, -1)),
        },
    )


def gadget(chance: Random) -> Document:
    free: Document = {"a": chance.choice((1, "x")), "b": chance.choice((1, 2)), "d": [{}, 1]}
    spec = picked(chance, free) or free
    return picked(chance, {"spec": spec, "status": {"seen": 1}}, 0.7)


def wrong_gadget(chance: Random) -> Document:
    return chance.choice(({"spec": []}, {"spec": "x"}, {"status": 7}, {"other": 1}, {"spec": None}))


def of(obj: Object, *keys: str) -> Document:
    document: Document = msgspec.to_builtins(obj, str_keys=True)
    return {key: document[key] for key in keys if key in document}


def workload(chance: Random) -> Document:
    fields = of(builders.workload("x"), "spec")
    if chance.random() < 0.3:
        fields["spec"]["placements"] *= chance.choice((0, 1, 2))
    return fields


def wrong_compute(chance: Random) -> Document:
    return chance.choice(
        (
            {},
            {"spec": {}},
            {"spec": []},
            {"spec": {"template": {}, "placements": []}},
            {"spec": {"template": {"spec": {"runtime": {}}}, "placements": [{"name": "X Y"}]}},
            {"spec": {"controller": 7}},
            {"spec": {"cityCode": "", "placementName": 1}},
        )
    )


def network(chance: Random) -> Document:
    return {
        "spec": {"ipam": {"mode": "Auto"}}
        | picked(chance, {"mtu": chance.choice((1300, 1460, 8856)), "ipFamilies": ["IPv4"]})
    }


def wrong_network(chance: Random) -> Document:
    return {
        "spec": chance.choice(
            (
                {},
                {"ipam": {}},
                {"ipam": {"mode": "Other"}},
                {"ipam": {"mode": "Auto"}, "mtu": 1},
                {"ipam": {"mode": "Auto"}, "ipFamilies": ["IPv5"]},
                {"ipam": {"mode": "Auto"}, "ipFamilies": []},
            )
        )
    }


def condition_status(chance: Random) -> Document:
    condition = {
        "type": chance.choice(("Available", "Ready")),
        "status": chance.choice(("True", "False", "Maybe")),
        "reason": chance.choice(("Fine", "not fine")),
        "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    return {"conditions": [condition] * chance.choice((1, 1, 2))}
