"""Deletions that do not go as planned: other clients, lost servers, and one workload of several."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from compute.api import names
from compute.api.compute import Workload
from compute.cli.deploy.deletion.destroy_run import DestroyMode, run_destroy
from compute.cli.exits import Exit, Failure
from kubekit.api.errors import ApiError, NotFound, Unavailable, not_found
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client, Listing
from tests.support.compute.builders import workload
from tests.unit.compute.cli.test_deploy_writing import session

HISTORY = ConfigMap(metadata=ObjectMeta(name=names.history("web"), namespace="default"))
MODE = DestroyMode(
    yes=True, wait=False, keep_history=True, timeout=timedelta(minutes=1), output="table"
)


class Deleting(Client):
    """A server with some Workloads and a history that is gone when it is written."""

    def __init__(self, *workloads: Workload, refusal: ApiError | None = None) -> None:
        self.workloads = {each.metadata.name: each for each in workloads}
        self.deleted: list[str] = []
        self.refusal = refusal

    async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        if kind is ConfigMap and name == HISTORY.metadata.name:
            return HISTORY
        if kind is Workload and name in self.workloads:
            return self.workloads[name]
        raise not_found(kind.RESOURCE, name)

    async def every(self, kind: type[Any], *_: Any, **__: Any) -> Any:
        return Listing((), "1")

    async def patch(self, existing: Any, desired: Any, options: Any = None) -> Any:
        raise not_found(ConfigMap.RESOURCE, existing.metadata.name)

    async def delete(self, obj: Object, options: Any = None) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.deleted.append(obj.metadata.name)


def destroy(client: Deleting, *wanted: str) -> int:
    return asyncio.run(run_destroy(session(client), wanted, MODE))


def test_a_history_that_is_deleted_meanwhile():
    """There is none to keep, and the workload is deleted nevertheless."""
    client = Deleting(workload("web"))

    assert destroy(client, "web") is Exit.OK
    assert client.deleted == ["web"]


def test_a_server_that_is_lost():
    """The code is that of an unknown result, as of every command."""
    client = Deleting(workload("web"), refusal=Unavailable("the server cannot be reached"))
    with pytest.raises(Failure) as error:
        destroy(client, "web")

    assert str(error.value) == "workload web was not deleted: the server cannot be reached"
    assert (error.value.code, error.value.next_step) == (Exit.UNKNOWN, "compute doctor")


def test_one_of_several_does_not_exist(capsys: pytest.CaptureFixture[str]):
    """The others are deleted, and the failure counts them."""
    client = Deleting(workload("web"), workload("api"))
    with pytest.raises(Failure) as error:
        destroy(client, "web", "nope", "api")

    assert str(error.value).endswith("namespace default; 2 of 3 deleted")
    assert error.value.code is Exit.NOT_FOUND
    assert client.deleted == ["web", "api"]
    assert capsys.readouterr().err == (
        "Wait until all is gone with: compute wait web api --for deleted\n"
    )


def test_a_project_that_does_not_exist():
    """It is no workload that is missing."""

    class Elsewhere(Deleting):
        async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
            raise NotFound("the server could not find the requested resource")

    with pytest.raises(NotFound):
        destroy(Elsewhere(), "web")
