"""Specs of Workloads with every property that a user may set, with two values for each.

``pick`` chooses one of the two, so that both specs have the same shape, and a property stands at
the same place in both.
"""

from collections.abc import Callable
from typing import Any, Final

from compute.api import annotations

Spec = dict[str, Any]
Pick = Callable[[Any, Any], Any]

_TYPE: Final = "datumcloud/d1-standard-2"
_IMAGE: Final = "datumcloud/ubuntu-2204-lts"
_KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG73EeHTplL7q/vGY/nWPU/g1229UHAYKWiPQlC6l7iR"


def sandbox(pick: Pick) -> Spec:
    """Containers, and everything that can stand around them."""
    runtime = {
        "resources": {"instanceType": _TYPE},
        "sandbox": {
            "containers": [_container(pick)],
            "imagePullSecrets": [{"name": pick("registry", "mirror")}],
        },
    }
    template = {
        "metadata": _metadata(pick),
        "spec": {
            "networkInterfaces": [_interface(pick)],
            "runtime": runtime,
            "volumes": [_settings(pick), _keys(pick), _disk(pick), _boot_disk(pick)],
        },
    }
    return {"placements": [_placement(pick)], "template": template}


def machine(pick: Pick) -> Spec:
    """A virtual machine."""
    attached = {"name": pick("boot", "start"), "mountPath": pick("/boot", "/start")}
    runtime = {
        "resources": {"instanceType": _TYPE},
        "virtualMachine": {"ports": [_port(pick)], "volumeAttachments": [attached]},
    }
    login = {annotations.SSH_KEYS: f"{pick('ops', 'dev')}:{_KEY}"}
    template = {
        "metadata": {"annotations": login},
        "spec": {
            "networkInterfaces": [{"network": {"name": "default"}}],
            "runtime": runtime,
            "volumes": [_boot_disk(pick)],
        },
    }
    return {"placements": [_placement(pick)], "template": template}


def _placement(pick: Pick) -> Spec:
    targets = (
        {"averageUtilization": pick(70, 80)},
        {"averageValue": pick("500m", "600m")},
        {"value": pick("2", "3")},
    )
    return {
        "name": pick("home", "away"),
        "cityCodes": [pick("DFW", "LHR")],
        "scaleSettings": {
            "instanceManagementPolicy": pick("OrderedReady", "Parallel"),
            "minReplicas": pick(1, 2),
            "maxReplicas": pick(3, 4),
            "metrics": [{"resource": {"name": "cpu", "target": target}} for target in targets],
        },
    }


def _metadata(pick: Pick) -> Spec:
    return {
        "annotations": {"example.com/note": pick("one", "two")},
        "finalizers": [pick("example.com/one", "example.com/two")],
        "labels": {"tier": pick("front", "back")},
        "name": pick("one", "two"),
        "namespace": pick("one", "two"),
    }


def _interface(pick: Pick) -> Spec:
    block = {
        "cidr": pick("10.0.0.0/8", "10.0.0.0/9"),
        "except": [pick("10.1.0.0/16", "10.2.0.0/16")],
    }
    port = {"port": pick(80, 81), "endPort": pick(90, 91), "protocol": pick("TCP", "UDP")}
    return {
        "network": {"name": pick("default", "second"), "namespace": pick("default", "")},
        "networkPolicy": {"ingress": [{"from": [{"ipBlock": block}], "ports": [port]}]},
    }


def _container(pick: Pick) -> Spec:
    attached = {
        pick("settings", "config"): pick("/settings", "/config"),
        "keys": "/keys",
        "data": "/data",
        pick("boot", "start"): "/boot",
    }
    return {
        "name": pick("app", "main"),
        "image": pick("registry.test/web:1", "registry.test/web:2"),
        "args": [pick("--fast", "--slow")],
        "command": [pick("/bin/web", "/bin/www")],
        "env": _environment(pick),
        "ports": [_port(pick)],
        "volumeAttachments": [{"name": n, "mountPath": path} for n, path in attached.items()],
    }


def _environment(pick: Pick) -> list[Spec]:
    name = pick("one", "two")
    key = {"key": name, "name": name, "optional": pick(True, False)}  # noqa: FBT003 - values
    field = {"apiVersion": pick("v1", "v2"), "fieldPath": pick("metadata.name", "metadata.uid")}
    amount = {
        "containerName": pick("app", "main"),
        "divisor": pick("1", "2"),
        "resource": pick("limits.cpu", "limits.memory"),
    }
    sources = {
        "MAP": {"configMapKeyRef": key},
        "SECRET": {"secretKeyRef": key},
        "FIELD": {"fieldRef": field},
        "AMOUNT": {"resourceFieldRef": amount},
    }
    return [
        {"name": pick("PLAIN", "SIMPLE"), "value": name},
        *({"name": name, "valueFrom": source} for name, source in sources.items()),
    ]


def _port(pick: Pick) -> Spec:
    return {
        "name": pick("http", "web"),
        "port": pick(8080, 8081),
        "protocol": pick("TCP", "UDP"),
    }


def _settings(pick: Pick) -> Spec:
    source = {
        "defaultMode": pick(0o444, 0o400),
        "name": pick("one", "two"),
        "optional": pick(True, False),  # noqa: FBT003 - the values themselves
    }
    return {"name": pick("settings", "config"), "configMap": source}


def _keys(pick: Pick) -> Spec:
    source = {
        "defaultMode": pick(0o444, 0o400),
        "items": [{"key": pick("a", "b"), "mode": pick(0o444, 0o400), "path": pick("a", "b")}],
        "optional": pick(True, False),  # noqa: FBT003 - the values themselves
        "secretName": pick("one", "two"),
    }
    return {"name": "keys", "secret": source}


def _disk(pick: Pick) -> Spec:
    spec = {
        "populator": {"filesystem": {"type": "ext4"}},
        "resources": {"requests": {"storage": pick("30Gi", "40Gi")}},
        "type": "pd-standard",
    }
    template = {"metadata": _metadata(pick), "spec": spec}
    return {"name": "data", "disk": {"deviceName": pick("data", "disk"), "template": template}}


def _boot_disk(pick: Pick) -> Spec:
    spec = {
        "populator": {"image": {"name": _IMAGE}},
        "resources": {"requests": {"storage": pick("30Gi", "40Gi")}},
    }
    return {"name": pick("boot", "start"), "disk": {"template": {"spec": spec}}}


_VOLUME: Final = "template.spec.volumes[]"
_POPULATOR: Final = f"{_VOLUME}.disk.template.spec.populator"

# Properties of which only one value is right; this one is not, but for a populator of another kind.
OTHERWISE: Final[dict[str, Any]] = {
    "placements[].scaleSettings.metrics[].resource.name": "memory",
    "template.spec.runtime.resources": {"instanceType": "datumcloud/d1-standard-4"},
    "template.spec.runtime.resources.instanceType": "datumcloud/d1-standard-4",
    f"{_VOLUME}.disk.template.spec.type": "pd-fast",
    _POPULATOR: {"image": {"name": _IMAGE}},
    f"{_POPULATOR}.filesystem": {"type": "xfs"},
    f"{_POPULATOR}.filesystem.type": "xfs",
    f"{_POPULATOR}.image": {"name": "datumcloud/plan9"},
    f"{_POPULATOR}.image.name": "datumcloud/plan9",
}

# What no user may set, with every property there is below it.
RESERVED: Final[dict[str, Any]] = {
    "template.spec.controller": {"templateHash": "1", "schedulingGates": [{"name": "Quota"}]},
    "template.spec.location": {"name": "dfw", "namespace": ""},
    "template.spec.runtime.resources.requests": {"cpu": "1"},
    "template.spec.runtime.sandbox.containers[].resources": {
        "limits": {"cpu": "1"},
        "requests": {"cpu": "1"},
    },
    f"{_VOLUME}.configMap.items": [{"key": "a", "mode": 0o400, "path": "a"}],
}
