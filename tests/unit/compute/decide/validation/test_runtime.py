"""What runs: containers, machines, ports, variables."""

import pytest

from kubekit.api.fields import Problem
from tests.support.compute.validation_builders import ABSENT, blamed, errors_of, machine, sandbox

RUNTIME = "spec/template/spec/runtime"
RUNTIME_PATH = "spec.template.spec.runtime"
CONTAINER = f"{RUNTIME}/sandbox/containers/0"
CONTAINER_PATH = f"{RUNTIME_PATH}.sandbox.containers[0]"


def contained(**changes):
    """The errors of a container with these fields, by their path within it."""
    got = blamed(sandbox({f"{CONTAINER}/{name}": value for name, value in changes.items()}))
    return [(path.removeprefix(f"{CONTAINER_PATH}."), problem) for path, problem in got]


def test_both_kinds_of_runtime_are_right():
    """A sandbox of containers is fine, and so is a machine."""
    assert errors_of(sandbox()) == []
    assert errors_of(machine()) == []


@pytest.mark.parametrize("size", ["", "datumcloud/d1-standard-4"])
def test_the_instance_type_is_a_known_one(size):
    """The error names the very field that is wrong."""
    got = blamed(sandbox({f"{RUNTIME}/resources/instanceType": size}))

    assert got == [(f"{RUNTIME_PATH}.resources.instanceType", Problem.NOT_SUPPORTED)]


def test_trap5_the_size_is_the_instance_types_alone():
    """Requests of the Instance or of a container are refused, so quota has one size to count."""
    requests = {"cpu": "1"}
    got = blamed(sandbox({f"{RUNTIME}/resources/requests": requests, f"{CONTAINER}/resources": {}}))

    assert got == [
        (f"{RUNTIME_PATH}.resources.requests", Problem.FORBIDDEN),
        (f"{CONTAINER_PATH}.resources", Problem.FORBIDDEN),
    ]


def test_something_must_run():
    """Neither containers nor a machine: nothing would start."""
    assert blamed(sandbox({f"{RUNTIME}/sandbox": ABSENT})) == [(RUNTIME_PATH, Problem.REQUIRED)]


def test_only_one_kind_of_runtime_is_set():
    """Containers and a machine at once are ambiguous."""
    containers = {"containers": [{"name": "app", "image": "registry.test/web:1"}]}
    got = blamed(machine({f"{RUNTIME}/sandbox": containers}))

    assert got == [(f"{RUNTIME_PATH}.virtualMachine", Problem.FORBIDDEN)]


def test_a_sandbox_has_containers():
    """An empty sandbox is refused."""
    got = blamed(sandbox({f"{RUNTIME}/sandbox/containers": []}))

    assert got == [(f"{RUNTIME_PATH}.sandbox.containers", Problem.REQUIRED)]


def test_container_names_are_unique_labels():
    """Names are DNS labels, and no two containers share one."""
    image = "registry.test/web:1"
    containers = [{"name": n, "image": image} for n in ("app", "App", "app")]
    got = blamed(sandbox({f"{RUNTIME}/sandbox/containers": containers}))

    assert got == [
        (f"{RUNTIME_PATH}.sandbox.containers[1].name", Problem.INVALID),
        (f"{RUNTIME_PATH}.sandbox.containers[2].name", Problem.DUPLICATE),
    ]


@pytest.mark.parametrize(
    ("image", "problem"),
    [
        ("", Problem.REQUIRED),
        ("web :1", Problem.INVALID),
        ("web:1\n", Problem.INVALID),
        ("web\x1b[31m:1", Problem.INVALID),
    ],
)
def test_an_image_is_named(image, problem):
    """An image has a name without blanks, and nothing that a terminal obeys."""
    assert contained(image=image) == [("image", problem)]


def test_secrets_for_registries_are_named():
    """A pull secret without a name, or with an impossible one, opens nothing."""
    given = ("registry.key", "", "Key", "k" * 254, "k" * 253)
    secrets = [{"name": name} for name in given]
    got = blamed(sandbox({f"{RUNTIME}/sandbox/imagePullSecrets": secrets}))

    assert got == [
        (f"{RUNTIME_PATH}.sandbox.imagePullSecrets[1].name", Problem.REQUIRED),
        (f"{RUNTIME_PATH}.sandbox.imagePullSecrets[2].name", Problem.INVALID),
        (f"{RUNTIME_PATH}.sandbox.imagePullSecrets[3].name", Problem.INVALID),
    ]


KEY = {"name": "conf", "key": "token"}


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ({"name": "A", "value": "1"}, []),
        ({"name": "A", "valueFrom": {"secretKeyRef": KEY}}, []),
        ({"name": "A", "valueFrom": {"configMapKeyRef": KEY}}, []),
        ({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, []),
        ({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}, []),
        ({"name": ""}, [("name", Problem.REQUIRED)]),
        ({"name": "A=B"}, [("name", Problem.INVALID)]),
        ({"name": "A", "valueFrom": {}}, [("valueFrom", Problem.REQUIRED)]),
        (
            {"name": "A", "valueFrom": {"secretKeyRef": KEY, "configMapKeyRef": KEY}},
            [("valueFrom", Problem.FORBIDDEN)],
        ),
        (
            {"name": "A", "value": "1", "valueFrom": {"secretKeyRef": KEY}},
            [("valueFrom", Problem.FORBIDDEN)],
        ),
        (
            {"name": "A", "valueFrom": {"secretKeyRef": {"key": ""}}},
            [
                ("valueFrom.secretKeyRef.name", Problem.REQUIRED),
                ("valueFrom.secretKeyRef.key", Problem.REQUIRED),
            ],
        ),
        (
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a b", "key": "k"}}},
            [("valueFrom.configMapKeyRef.name", Problem.INVALID)],
        ),
    ],
    ids=repr,
)
def test_a_variable_has_a_name_and_one_source(variable, expected):
    """A variable that no container could be given is refused before one is made."""
    assert contained(env=[variable]) == [(f"env[0].{path}", what) for path, what in expected]


def test_variables_are_named_once():
    """Of two variables of one name only one would be seen."""
    assert contained(env=[{"name": "A"}, {"name": "B"}, {"name": "A"}]) == [
        ("env[2].name", Problem.DUPLICATE)
    ]


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({"name": "http", "port": 1}, []),
        ({"name": "h2", "port": 65535, "protocol": "UDP"}, []),
        ({"name": "a" * 15, "port": 80, "protocol": ""}, []),
        ({"name": "", "port": 80}, [("name", Problem.REQUIRED)]),
        ({"name": "80", "port": 80}, [("name", Problem.INVALID)]),
        ({"name": "Http", "port": 80}, [("name", Problem.INVALID)]),
        ({"name": "a--b", "port": 80}, [("name", Problem.INVALID)]),
        ({"name": "-http", "port": 80}, [("name", Problem.INVALID)]),
        ({"name": "a" * 16, "port": 80}, [("name", Problem.INVALID)]),
        ({"name": "http", "port": 0}, [("port", Problem.INVALID)]),
        ({"name": "http", "port": 65536}, [("port", Problem.INVALID)]),
        ({"name": "http", "port": 80, "protocol": "tcp"}, [("protocol", Problem.NOT_SUPPORTED)]),
    ],
    ids=repr,
)
def test_a_port_has_a_service_name_and_a_number(port, expected):
    """Ports are named as IANA names services, and numbered from 1 to 65535."""
    assert contained(ports=[port]) == [(f"ports[0].{path}", what) for path, what in expected]


def test_ports_of_a_container_are_named_once():
    """A name that two ports share would lead to either."""
    ports = [{"name": "http", "port": 80}, {"name": "http", "port": 81}]

    assert contained(ports=ports) == [("ports[1].name", Problem.DUPLICATE)]


def test_ports_of_a_machine_are_checked_alike():
    """A machine's ports follow the rules of a container's."""
    got = blamed(machine({f"{RUNTIME}/virtualMachine/ports": [{"name": "ssh", "port": 0}]}))

    assert got == [(f"{RUNTIME_PATH}.virtualMachine.ports[0].port", Problem.INVALID)]


@pytest.mark.parametrize("field", ["location", "controller"])
def test_fields_of_the_controllers_are_theirs(field):
    """A template cannot say where its Instances are or which gates hold them."""
    values = {"location": {"name": "x"}, "controller": {"templateHash": "x"}}
    got = blamed(sandbox({f"spec/template/spec/{field}": values[field]}))

    assert got == [(f"spec.template.spec.{field}", Problem.FORBIDDEN)]
