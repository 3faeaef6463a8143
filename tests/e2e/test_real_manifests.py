"""The manifests on a real kube-apiserver: it accepts every overlay, and it keeps cells apart."""

import asyncio
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from compute.api import labels
from compute.app.system_environment import system
from compute.decide import quota
from kubekit.api.errors import Forbidden
from kubekit.api.meta import with_metadata
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.client.options import EVERYTHING, PLAIN_DELETE, WriteOptions
from kubekit.client.transport import ResourceLocation
from tests.e2e.conftest import Kubectl
from tests.support.compute import builders, explain_builders
from tests.support.compute.builders import condition
from tests.support.kubekit.kites import namespace_manifest

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
OVERLAYS = sorted(path.name for path in (CONFIG / "overlays").iterdir())
STRICT = ("--server-side", "--force-conflicts", "--validate=strict", "--field-manager=manifests")
# Kinds of other products, which a plain server does not have.
FOREIGN = {"cert-manager.io", "monitoring.coreos.com", "config.karmada.io"}
OWN, OTHER, NAMESPACE = "dfw", "lhr", "ns-cells"
CELL_PARTS = (
    "controller-rbac/cell-on-hub",
    "controller-rbac/cell-on-project",
    "cell-policies/instances",
    "cell-policies/claims",
)


@pytest.fixture(scope="module")
def kubectl(real_server, tmp_path_factory):
    """Kubectl on the real server, where the namespaces of managers and of cells are."""
    home = tmp_path_factory.mktemp("home")
    kubectl = Kubectl(real_server.kubeconfig, home, "compute-system", real_server.kubectl)
    for name in ("namespace", "cells-namespace"):
        kubectl("apply", *STRICT, "-k", str(CONFIG / "base" / name))
    return kubectl


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_server_accepts_every_object_of_an_overlay(kubectl, name):
    """With strict validation, and without a warning. Nothing is stored: the server is shared."""
    text = subprocess.run(
        ["kubectl", "kustomize", str(CONFIG / "overlays" / name)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    objects = [each for each in yaml.safe_load_all(text) if each]
    known = [each for each in objects if each["apiVersion"].partition("/")[0] not in FOREIGN]
    printed = kubectl(
        "apply", *STRICT, "--dry-run=server", "-f", "-", text=yaml.safe_dump_all(known)
    )
    lines = printed.splitlines()
    assert len(lines) == len(known), printed
    assert all(line.endswith("serverside-applied (server dry run)") for line in lines), printed


@dataclass(frozen=True)
class Cells:
    """The kubeconfigs of two cells and of an administrator."""

    files: dict[str, Path]

    def client(self, user: str) -> HttpClient:
        environment = system()
        return HttpClient(load(environment, [self.files[user]]), environment)


@pytest.fixture(scope="module")
def cells(kubectl, real_server, tmp_path_factory):
    """Two cells with the roles that they have on a hub and in a project, under the policies."""
    for part in CELL_PARTS:
        kubectl("apply", *STRICT, "-k", str(CONFIG / "base" / part))
    folder = tmp_path_factory.mktemp("cells")
    files = {"admin": real_server.kubeconfig}
    for cell in (OWN, OTHER):
        kubectl("create", "serviceaccount", cell, "--namespace=compute-cells")
        token = kubectl("create", "token", cell, "--namespace=compute-cells").strip()
        files[cell] = folder / cell
        document = json.loads(real_server.kubeconfig.read_text())
        document["users"][0]["user"] = {"token": token}
        files[cell].write_text(json.dumps(document))
    kubectl("create", "-f", "-", text=namespace_manifest(NAMESPACE))
    made = Cells(files)
    try:
        asyncio.run(_enforced(made))
        yield made
    finally:
        for part in reversed(CELL_PARTS):
            kubectl("delete", "-k", str(CONFIG / "base" / part))
        kubectl("delete", "namespace", NAMESPACE, "compute-cells")


async def _enforced(cells):
    """Wait until roles and policies are in force, which takes a server a moment."""
    async with cells.client(OWN) as client, asyncio.timeout(30):
        for make in (instance, claim):
            for source in (OWN, OTHER):
                while await _allows(client, make("probe", source)) != (source == OWN):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.1)


async def _allows(client, obj):
    try:
        await client.create(obj, WriteOptions(dry_run=True))
    except Forbidden:
        return False
    return True


def instance(name, source):
    """A copy of an Instance, as a cell writes it; without a label if no source is given."""
    fresh = builders.instance(labels=_label(source), namespace=NAMESPACE, name=name, uid="")
    return with_metadata(fresh, generation=0, creation_timestamp=None)


def claim(name, source):
    fresh = explain_builders.claim()
    wanted = quota.claim(
        builders.instance(), project="shop", claim_namespace=NAMESPACE, source_cluster=source
    )
    metadata = replace(fresh.metadata, name=name, namespace=NAMESPACE, labels=_label(source))
    return replace(wanted, metadata=metadata)


def _label(source):
    return {labels.SOURCE_CLUSTER: source} if source else {}


def relabelled(obj, source):
    return with_metadata(obj, labels=_label(source))


def reported(obj):
    """The object with another status."""
    news = (condition("Ready", "True", "Forged", "so it is"),)
    return replace(obj, status=replace(obj.status, conditions=news))


@pytest.mark.parametrize("make", [instance, claim])
def test_a_cell_writes_its_own_objects(cells, make):
    """Create, change, report and delete."""

    async def story():
        async with cells.client(OWN) as own:
            made = await own.create(make("mine", OWN))
            noted = await own.patch(made, with_metadata(made, annotations={"note": "mine"}))
            if make is instance:
                noted = await own.patch_status(noted, reported(noted))
            await own.delete(noted)

    asyncio.run(story())


@pytest.mark.parametrize("make", [instance, claim])
def test_a_hostile_cell_cannot_touch_what_another_one_wrote(cells, make):
    """Neither change it, nor report on it, take it over, or delete it: one by one or all at once."""

    async def story():
        async with cells.client(OTHER) as other, cells.client(OWN) as hostile:
            theirs = await other.create(make("theirs", OTHER))
            seen = await hostile.get(type(theirs), "theirs", NAMESPACE)
            for attempt in (
                hostile.patch(seen, with_metadata(seen, annotations={"note": "mine"})),
                hostile.patch(seen, relabelled(seen, OWN)),
                hostile.patch(seen, relabelled(seen, "")),
                hostile.patch_status(seen, reported(seen)),
                hostile.delete(seen),
                hostile.raw.delete_collection(
                    ResourceLocation(type(seen).RESOURCE, NAMESPACE), EVERYTHING, PLAIN_DELETE
                ),
                hostile.apply(relabelled(make("theirs", OWN), OWN), "hostile", force=True),
            ):
                with pytest.raises(Forbidden):
                    await attempt
            assert await other.get(type(theirs), "theirs", NAMESPACE) == theirs
            await other.delete(theirs)

    asyncio.run(story())


@pytest.mark.parametrize("make", [instance, claim])
def test_a_hostile_cell_cannot_write_in_the_name_of_another_one(cells, make):
    """Not in a new object, nor by handing over one of its own; a missing label is no way around."""

    async def story():
        async with cells.client(OWN) as hostile:
            for source in (OTHER, "", f"{OWN}-2"):
                with pytest.raises(Forbidden, match="may only write"):
                    await hostile.create(make("forged", source))
            own = await hostile.create(make("own", OWN))
            for source in (OTHER, ""):
                with pytest.raises(Forbidden, match="may only write"):
                    await hostile.patch(own, relabelled(own, source))
            await hostile.delete(own)

    asyncio.run(story())


def test_an_instance_of_no_cell_is_adopted_and_a_claim_is_not(cells):
    """The original product writes no such label on copies; a claim may be of any other product."""

    async def story():
        async with cells.client("admin") as admin, cells.client(OWN) as own:
            copy = await admin.create(instance("unlabelled", ""))
            with pytest.raises(Forbidden):
                await own.delete(copy)
            adopted = await own.patch(copy, relabelled(copy, OWN))
            await own.delete(adopted)
            foreign = await admin.create(claim("unlabelled", ""))
            with pytest.raises(Forbidden):
                await own.patch(foreign, relabelled(foreign, OWN))
            await admin.delete(foreign)

    asyncio.run(story())


@pytest.mark.parametrize("make", [instance, claim])
def test_others_are_not_restricted(cells, make):
    """Management moves an object from one cell to another, and the namespace controller deletes it."""

    async def story():
        async with cells.client("admin") as admin, cells.client(OTHER) as other:
            made = await admin.create(make("moved", OWN))
            moved = await admin.patch(made, relabelled(made, OTHER))
            await other.delete(moved)
            left = await other.create(make("left", OTHER))
            await admin.delete(left)

    asyncio.run(story())
