"""Users of projects as an operator adds them: what each may do in one project, and nothing elsewhere."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import yaml

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding, Network
from compute.api.quota import AllowanceBucket, ResourceClaim
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.api.services import ServiceEntitlement
from compute.app.system_environment import system
from compute.cli.root import run
from compute.decide.conditions import is_true
from kubekit.api.errors import Forbidden, Unauthorized
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.kinds.events import CoreEvent
from kubekit.api.kinds.rbac import ClusterRoleBinding, RoleBinding, RoleRef, Subject
from kubekit.api.meta import ObjectMeta
from kubekit.api.scheme import decode_as
from kubekit.client.documents import read
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from tests.e2e.conftest import Kubectl, lacks_kubectl

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
SEEN = (
    Workload, WorkloadDeployment, Instance, Network, LocationBinding, ResourceClaim,
    AllowanceBucket, ServiceEntitlement, CoreEvent, ConfigMap, Namespace,
)  # fmt: skip
PATIENCE = 60.0  # seconds


def compute(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "compute", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=PATIENCE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A world with the projects demo and shop, in which a user of each role was added to shop."""
    data = tmp_path_factory.mktemp("rights") / "world"
    started = compute("up", f"--data={data}", "--port=0", "--cities=DFW,LHR,SIN", "--detach")
    assert started.returncode == 0, started.stderr
    try:
        asyncio.run(make_project(data, "shop"))
        for role in ("viewer", "editor", "admin"):
            added(data, f"the {role}", "--project=shop", f"--role={role}")
        yield data
    finally:
        compute("down", f"--data={data}")


def users(*arguments: str) -> tuple[int, str]:
    """The exit code of `compute plane users` in this process, and all that it prints."""
    with redirect_stdout(StringIO()) as printed, redirect_stderr(printed):
        code = run(["plane", "users", *arguments])
    return code, printed.getvalue()


def added(data: Path, name: str, *options: str) -> str:
    """Add a user, whose kubeconfig is put beside the world; and the output of the command."""
    code, printed = users("add", name, *options, f"--data={data}", f"--out={config(data, name)}")
    assert code == 0, printed
    return printed


def config(data: Path, name: str) -> Path:
    return data.parent / f"{name}.kubeconfig"


def client(file: Path, context: str = "project-shop") -> HttpClient:
    environment = system()
    return HttpClient(load(environment, [file], context), environment)


async def make_project(data: Path, name: str) -> None:
    owner = ProjectOwnerRef(kind="Organization", name="home")
    project = Project(metadata=ObjectMeta(name=name), spec=ProjectSpec(owner_ref=owner))
    async with client(data / "kubeconfig", "core") as core, asyncio.timeout(PATIENCE):
        await core.create(project)
        while not is_true((await core.get(Project, name)).status.conditions, "Ready"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)
    async with client(data / "kubeconfig", f"admin-project-{name}") as plane:
        async with asyncio.timeout(PATIENCE):
            while len((await plane.every(LocationBinding)).items) < 3:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)


def hello() -> Workload:
    """What the README deploys."""
    (document,) = read((ROOT / "examples/hello.yaml").read_bytes())
    assert isinstance(document, dict)
    return decode_as(Workload, document)


def gives(role: str, user: str) -> RoleBinding:
    return RoleBinding(
        metadata=ObjectMeta(name=f"{user}-{role}", namespace="default"),
        subjects=(Subject(kind="User", api_group="rbac.authorization.k8s.io", name=user),),
        role_ref=RoleRef(kind="ClusterRole", name=role),
    )


def test_a_viewer_reads_all_of_a_project_and_writes_nothing(data):
    """Secrets are not for viewing either."""

    async def story() -> None:
        async with client(config(data, "the viewer")) as viewer:
            for kind in SEEN:
                await viewer.every(kind)
            with pytest.raises(Forbidden, match='"the viewer" cannot create resource "workloads"'):
                await viewer.create(hello())
            with pytest.raises(Forbidden, match="secrets"):
                await viewer.every(Secret)

    asyncio.run(story())


def test_an_editor_deploys_what_the_readme_deploys(data):
    """It is admitted, with the network that it uses, and runs; its parts can all be listed."""

    async def story() -> None:
        async with client(config(data, "the editor")) as editor:
            workload = await editor.create(hello())
            async with asyncio.timeout(PATIENCE):
                while not is_true(workload.status.conditions, "Available"):
                    await asyncio.sleep(0.1)
                    workload = await editor.get(Workload, "hello", "default")
            for kind in (*SEEN, Secret):
                await editor.every(kind)
            assert (await editor.every(ResourceClaim)).items
            with pytest.raises(Forbidden, match="rolebindings"):
                await editor.create(gives("cluster-admin", "the editor"))
            await editor.delete(workload)

    asyncio.run(story())


def test_an_admin_grants_only_its_own_rights(data):
    """Another user may be let in to deploy; no user gets cluster-admin by it."""

    async def story() -> None:
        async with client(config(data, "the admin")) as admin:
            await admin.create(gives("compute-editor", "friend"))
            with pytest.raises(Forbidden, match="not currently held"):
                await admin.create(gives("cluster-admin", "friend"))
            with pytest.raises(Forbidden, match="clusterrolebindings"):
                await admin.every(ClusterRoleBinding)
            with pytest.raises(Forbidden, match="namespaces"):
                await admin.create(Namespace(metadata=ObjectMeta(name="staging")))

    asyncio.run(story())


@pytest.mark.parametrize("user", ["the viewer", "the editor", "the admin", "project-shop"])
def test_no_user_of_a_project_reads_anything_else(data, user):
    """Not another project, nor the core, its secrets, the hub or a cell."""

    async def story(file: Path, planes: list[str]) -> None:
        for plane in planes:
            async with client(file, plane) as reader:
                for kind in (Secret, ConfigMap, Namespace):
                    with pytest.raises(Forbidden):
                        await reader.every(kind)

    whole = yaml.safe_load((data / "kubeconfig").read_text())
    own = whole if user == "project-shop" else yaml.safe_load(config(data, user).read_text())
    planes = [each["name"] for each in whole["clusters"] if each["name"] != "project-shop"]
    assert {"core", "hub", "project-demo", "cell-dfw"} <= set(planes)
    contexts = [{"name": name, "context": {"cluster": name, "user": user}} for name in planes]
    everywhere = data.parent / f"{user}.everywhere.kubeconfig"
    everywhere.write_text(yaml.safe_dump(whole | {"users": own["users"], "contexts": contexts}))
    asyncio.run(story(everywhere, planes))


def test_a_user_has_one_role_in_a_project_until_removed(data):
    """Added again, the role is another; removed, it is gone at once. To remove twice is no failure."""

    async def may_write() -> bool:
        note = ConfigMap(metadata=ObjectMeta(name="note", namespace="default"))
        async with client(config(data, "carol")) as carol:
            await carol.every(Workload)
            try:
                await carol.delete(await carol.create(note))
            except Forbidden:
                return False
            return True

    printed = added(data, "carol", "--project=shop")
    assert "carol is editor of the project shop until " in printed
    assert f"compute plane users remove carol --project shop --data {data}\n" in printed
    assert asyncio.run(may_write())
    added(data, "carol", "--project=shop", "--role=viewer")
    assert not asyncio.run(may_write())
    line = ["remove", "carol", "--project=shop", f"--data={data}"]
    assert users(*line) == (0, "carol no longer has a role in the project shop.\n")
    with pytest.raises(Forbidden):
        asyncio.run(may_write())
    code, again = users(*line)
    assert (code, "nothing to remove" in again) == (0, True)


def test_a_user_of_a_recreated_project_is_refused(data):
    """Neither the certificate of one that was added nor the token of the project opens the new one."""
    asyncio.run(make_project(data, "brief"))
    added(data, "dora", "--project=brief", "--role=admin")
    token = data.parent / "brief.kubeconfig"
    token.write_bytes((data / "kubeconfig").read_bytes())

    async def story() -> None:
        async with client(config(data, "dora"), "project-brief") as dora:
            await dora.every(Workload)
        async with client(data / "kubeconfig", "core") as core, asyncio.timeout(PATIENCE):
            await core.delete(await core.get(Project, "brief"))
            while await core.find(Project, "brief"):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        await make_project(data, "brief")
        async with client(config(data, "dora"), "project-brief") as dora:
            with pytest.raises(Forbidden):
                await dora.every(Workload)
        async with client(token, "project-brief") as old:
            with pytest.raises(Unauthorized):
                await old.every(Workload)
        async with client(data / "kubeconfig", "project-brief") as new:
            await new.every(Workload)

    asyncio.run(story())


def test_the_kubeconfig_is_printed_and_nothing_else(data):
    """So that it can be handed on as it is; where there is none, one sentence says why."""
    done = compute("plane", "users", "add", "frank", "--project=shop", f"--data={data}")
    assert yaml.safe_load(done.stdout)["current-context"] == "project-shop"
    code, printed = users("add", "eve", "--project=shopp", f"--data={data}")
    assert code == 7
    assert re.fullmatch(
        r"Error: there is no project shopp; projects: .*demo, shop\nNext:  compute .*\n", printed
    )
    code, printed = users("add", "eve/1", "--project=shop", f"--data={data}")
    assert code == 2
    assert "a user of a project may not have / or % in the name: eve/1" in printed


@pytest.mark.skipif(lacks_kubectl(), reason="there is no kubectl on the PATH")
def test_the_recipe_of_the_docs_works(data, kubectl_home, tmp_path):
    """Every command on the page about access works as it is written."""
    page = (ROOT / "docs/operating.md").read_text()
    recipe = "".join(
        block
        for block in re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        if block.startswith("compute plane users add ")
    )
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        ["sh", "-euc", recipe],
        cwd=tmp_path,
        env=os.environ
        | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COMPUTE_DATA": str(data),
            "KUBECONFIG": str(data / "kubeconfig"),
            "HOME": str(kubectl_home),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout
    assert recipe.count("compute plane users add ") == 3
    assert "workload.compute.datumapis.com/hello created" in done.stdout
    assert "locationbinding.networking.datumapis.com/dfw" in done.stdout
    assert "alice no longer has a role in the project demo." in done.stdout
    assert done.stdout.count("\nyes\n") == 2, done.stdout


@pytest.mark.skipif(lacks_kubectl(), reason="there is no kubectl on the PATH")
def test_kubectl_lists_what_an_editor_may(data, kubectl_home):
    """`auth can-i` agrees with the recipe."""
    editor = Kubectl(config(data, "the editor"), kubectl_home, "default")

    rights = {
        resource: verbs.split()
        for resource, verbs in re.findall(
            r"^(\S+) +\[\] +\[\] +\[(.*)\]$", editor("auth", "can-i", "--list"), re.MULTILINE
        )
    }
    assert "use" in rights["networks.networking.datumapis.com"]
    assert "create" in rights["workloads.compute.datumapis.com"]
    assert rights["instances.compute.datumapis.com"] == ["get", "list", "watch"]
    assert "rolebindings.rbac.authorization.k8s.io" not in rights
    assert editor("config", "get-contexts", "--output", "name") == "project-shop\n"
