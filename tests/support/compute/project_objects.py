"""Objects of a running world that a test of the command line changes, apart from the command line."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec.structs import replace

from compute.api.compute import Placement, ScaleSettings, Workload
from compute.api.instance_spec import InstanceTemplate
from compute.app.system_environment import system
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from tests.support.compute.builders import template, workload
from tests.support.compute.cli_runner import CommandLine

T = TypeVar("T")

BROKEN_IMAGE = "registry.test/does-not-exist:1"
IMAGE = "registry.test/web:1"


def in_plane(compute: CommandLine, body: Callable[[Client], Awaitable[T]], context: str = "") -> T:
    """The result of work in a plane of the world; in the project of the command line by default."""
    context = context or f"project-{compute.variables.get('COMPUTE_PROJECT', 'demo')}"

    async def with_client() -> T:
        environment = system()
        connection = load(environment, [compute.data / "kubeconfig"], context)
        async with HttpClient(connection, environment) as client:
            return await body(client)

    return asyncio.run(with_client())


def create(compute: CommandLine, obj: Object) -> None:
    """Create an object in the project."""
    in_plane(compute, lambda client: client.create(obj))


def delete(compute: CommandLine, kind: type[Object], name: str) -> None:
    """Delete an object of the project."""

    async def deleted(client: Client) -> None:
        await client.delete(await client.get(kind, name, "default"))

    in_plane(compute, deleted)


def wanted(
    name: str, *cities: str, replicas: int = 1, of: InstanceTemplate | None = None
) -> Workload:
    """A Workload with the placement `default` in these cities; DFW where none is named."""
    scale = ScaleSettings(min_replicas=replicas)
    placement = Placement(name="default", city_codes=cities or ("DFW",), scale_settings=scale)
    made = workload(name, placement, template=of or template(IMAGE))
    return replace(made, metadata=ObjectMeta(name=name, namespace="default"))


def kubeconfig_of(compute: CommandLine, user: str, role: str = "viewer") -> str:
    """The kubeconfig of a user who has this role in the project `demo`."""
    file = compute.home / f"{user}.kubeconfig"
    added = compute(
        "plane", "users", "add", user, "--project=demo", f"--role={role}", f"--out={file}"
    )
    assert added.code == 0, added
    return str(file)


def create_namespace(compute: CommandLine, name: str) -> None:
    """Create a namespace in the project `demo`, for what no other test may see."""
    made = Namespace(metadata=ObjectMeta(name=name))
    in_plane(compute, lambda client: client.create(made), "admin-project-demo")
