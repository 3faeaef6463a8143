"""Workloads of a running world that a test deploys, and the revisions that their history has then."""

from compute.api import names
from compute.api.quota import BUCKETS, AllowanceBucket
from compute.app.system_environment import system
from compute.decide.quota import INSTANCES, MEMORY, VCPUS
from compute.decide.workload import history
from compute.views.live import live_objects
from kubekit.api.kinds.core import ConfigMap
from kubekit.client.client import Client
from kubekit.client.options import ListOptions
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.cli_world import LIMIT, in_plane

GOOD, BETTER = "registry.test/web:1", "registry.test/web:2"
BROKEN = "registry.test/does-not-exist:1"


def deployed(compute: CommandLine, name: str, *flags: str, revision: int) -> None:
    """Deploy a Workload by flags, and wait until the history knows that every city serves it."""
    done = compute("deploy", name, *flags, "--yes")
    assert done.code == 0, done
    wait_for_revision(compute, name, revision, served=True)


def until_used(compute: CommandLine, instances: int) -> None:
    """Wait until all buckets of the project are there, and show so many instances as used."""

    async def wait(project: Client) -> None:
        async with live_objects(project, system(), BUCKETS, AllowanceBucket) as live:
            while not _is_used(live.all(AllowanceBucket), instances):
                await live.changed(LIMIT)

    in_plane(compute.data, f"project-{compute.variables['COMPUTE_PROJECT']}", wait)


def wait_for_revision(
    compute: CommandLine, name: str, revision: int, *, served: bool = False
) -> None:
    """Wait until a revision is the active one of a Workload in the project of this command line."""
    chosen = ListOptions(field_selector=f"metadata.name={names.history(name)}")

    async def wait(client: Client) -> None:
        async with live_objects(
            client, system(), "default", ConfigMap, selectors={ConfigMap: chosen}
        ) as live:
            await live.listed()
            while not _is_active(
                live.find(ConfigMap, names.history(name)), revision, served=served
            ):
                await live.changed(LIMIT)

    in_plane(compute.data, f"project-{compute.variables['COMPUTE_PROJECT']}", wait)


def _is_used(buckets: tuple[AllowanceBucket, ...], instances: int) -> bool:
    used = {each.spec.resource_type: each.status.allocated for each in buckets}
    return used.keys() >= {INSTANCES, MEMORY, VCPUS} and used[INSTANCES] == instances


def _is_active(known: ConfigMap | None, revision: int, *, served: bool) -> bool:
    active = history.current(known)
    return active is not None and active.rev == revision and bool(active.healthy_at or not served)
