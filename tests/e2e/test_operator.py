"""An operator written with kopf, as a process of its own beside a plane."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest
from kubernetes import client, config

from tests.support.kubekit import boat_operator
from tests.support.kubekit.client_libraries import Document, Library, Sort, lightkube_async
from tests.support.kubekit.plane_process import running

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

BOATS = Sort(f"{boat_operator.GROUP}/{boat_operator.VERSION}", "Boat", boat_operator.PLURAL)
CONFIG_MAPS = Sort("v1", "ConfigMap", "configmaps")
EVENTS = Sort("v1", "Event", "events")


@contextmanager
def operating(kubeconfig: Path) -> Iterator["subprocess.Popen[str]"]:
    """The operator, which is made to end."""
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace=default"]
    with subprocess.Popen(
        [*command, str(boat_operator.__file__)],
        env=os.environ | {"KUBECONFIG": str(kubeconfig)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as operator:
        try:
            yield operator
        finally:
            if operator.poll() is None:
                operator.kill()


def test_an_operator_does_its_work(tmp_path: Path) -> None:
    """It sees its kind, handles what happens to a boat, delays its deletion, and stops on SIGTERM."""
    with running(tmp_path / "data") as plane:
        with config.new_client_from_config(str(plane.kubeconfig)) as connections:
            definitions = client.ApiextensionsV1Api(connections)
            definitions.create_custom_resource_definition(boat_operator.DEFINITION)
        with operating(plane.kubeconfig) as operator:
            asyncio.run(_voyage(plane.kubeconfig))
            operator.terminate()
            complaints = operator.communicate(timeout=20)[1]

    assert operator.returncode == 0
    assert "ERROR" not in complaints
    assert "Handler 'launch' succeeded" in complaints


async def _voyage(kubeconfig: Path) -> None:
    async with (
        asyncio.timeout(40),
        lightkube_async(kubeconfig, "default", BOATS) as boats,
        lightkube_async(kubeconfig, "default", CONFIG_MAPS) as config_maps,
        lightkube_async(kubeconfig, "default", EVENTS) as events,
    ):
        made = await boats.create(_boat("Kiel"))
        launched = await _first(boats, made, lambda _, boat: _at(boat) == "Kiel")
        logbook = await config_maps.get("anna-logbook")
        event = await _first(events, made, lambda _, seen: seen["reason"] == "Launched")
        sailing = await boats.merge("anna", {"spec": {"port": "Hull"}})
        sailed = await _first(boats, sailing, lambda _, boat: _at(boat) == "Hull")
        await boats.delete("anna")
        end = await _first(boats, sailed, lambda event, _: event == "DELETED")
        left = await config_maps.names()

    assert launched["metadata"]["finalizers"] == [f"{boat_operator.GROUP}/logbook"]
    assert logbook["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert event["involvedObject"]["name"] == "anna"
    assert sailed["status"] == {"at": "Hull", "from": "Kiel"}
    assert "deletionTimestamp" in end["metadata"]
    assert "anna-wreck" in left


def _boat(port: str) -> Document:
    metadata = {"name": "anna", "namespace": "default"}
    return {"apiVersion": BOATS.api_version, "kind": "Boat", "metadata": metadata, "spec": {"port": port}}  # fmt: skip


def _at(boat: Document) -> object:
    return boat.get("status", {}).get("at")


async def _first(
    watched: Library, since: Document, wanted: Callable[[str, Document], bool]
) -> Document:
    """The first object since then, of which what happened to it is what one waits for."""
    async with aclosing(watched.watch(since["metadata"]["resourceVersion"])) as changes:
        async for event, found in changes:
            if wanted(event, found):
                return found
    raise AssertionError("the watch ended first")
