"""A Pod of a Deployment as a program on this machine."""

import base64
import os

import pytest
import yaml

from tests.peers.deployed.pod_programs import PodPlace, PodProgram

CONFIG = {"webhookServer": {"port": 9443}, "metricsServer": {"bindAddress": ":8443"}}
OBJECTS = [
    {
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"config.yaml": yaml.safe_dump(CONFIG | {"path": "/etc/secrets/token"})},
    },
    {
        "kind": "Secret",
        "metadata": {"name": "credentials"},
        "data": {"token": base64.b64encode(b"secret").decode()},
    },
]
CONTAINER = {
    "name": "manager",
    "command": ["compute-manager"],
    "args": ["--probes=$(PROBES)", "--config=/etc/settings/config.yaml", "--other=/etc/other"],
    "env": [
        {"name": "PROBES", "value": ":8081"},
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "TOKEN", "value": "/etc/secrets/token"},
    ],
    "ports": [{"name": "probes", "containerPort": 8081}],
    "readinessProbe": {"httpGet": {"path": "/readyz", "port": "probes"}},
    "volumeMounts": [
        {"name": "settings", "mountPath": "/etc/settings"},
        {"name": "secrets", "mountPath": "/etc/secrets"},
        {"name": "tmp", "mountPath": "/tmp"},
    ],
}
VOLUMES = [
    {"name": "settings", "configMap": {"name": "settings"}},
    {"name": "secrets", "secret": {"secretName": "credentials"}},
    {"name": "tmp", "emptyDir": {}},
]


@pytest.fixture
def place(tmp_path):
    return PodPlace("pod-0", tmp_path / "pod", tmp_path / "kubeconfig", OBJECTS, tmp_path / "code")


def pod(place, **changes):
    spec = {"containers": [CONTAINER], "volumes": VOLUMES} | changes
    template = {"spec": spec}
    return PodProgram({"metadata": {"namespace": "system"}, "spec": {"template": template}}, place)


def test_arguments_and_environment(place):
    """Variables are expanded, paths below a mount lead to its folder, and ports are free ones."""
    one = pod(place)
    program = one.prepare()

    assert program.name == "pod-0"
    assert program.arguments[0].endswith("/bin/compute-manager")
    assert list(program.arguments[1:]) == [
        f"--probes=127.0.0.1:{one.port(8081)}",
        f"--config={place.folder}/etc/settings/config.yaml",
        "--other=/etc/other",
    ]
    assert program.environment == {
        "PROBES": f"127.0.0.1:{one.port(8081)}",
        "POD_NAME": "pod-0",
        "TOKEN": f"{place.folder}/etc/secrets/token",
        "PATH": os.environ["PATH"],
        "HOME": str(place.folder),
        "KUBECONFIG": str(place.kubeconfig),
        "PYTHONPATH": str(place.code / "src"),
    }
    assert one.url("readinessProbe") == f"http://127.0.0.1:{one.port(8081)}/readyz"


def test_files(place):
    """Secrets are for the user only; a configuration names what is there on this machine."""
    one = pod(place)
    one.prepare()
    token = place.folder / "etc/secrets/token"
    config = yaml.safe_load((place.folder / "etc/settings/config.yaml").read_text())

    assert (token.read_text(), token.stat().st_mode & 0o777) == ("secret", 0o600)
    assert config == {
        "webhookServer": {"host": "127.0.0.1", "port": one.port(9443)},
        "metricsServer": {"bindAddress": f"127.0.0.1:{one.port(8443)}"},
        "path": str(token),
    }
    assert not (place.folder / "tmp").exists()


def test_what_is_not_there(place):
    """A Pod would not start without it; one that is optional is an empty folder."""
    lacking = {"name": "secrets", "secret": {"secretName": "other"}}
    volumes = [VOLUMES[0], lacking, VOLUMES[2]]
    with pytest.raises(LookupError, match="pod-0 mounts the Secret other, which is not there"):
        pod(place, volumes=volumes).prepare()


def test_what_is_optional(place):
    """A Secret that need not be there is an empty folder."""
    lacking = {"name": "secrets", "secret": {"secretName": "other", "optional": True}}
    pod(place, volumes=[VOLUMES[0], lacking, VOLUMES[2]]).prepare()
    assert list((place.folder / "etc/secrets").iterdir()) == []
