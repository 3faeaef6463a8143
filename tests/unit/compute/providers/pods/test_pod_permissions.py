"""What the provider of Pods sends, compared with the permissions that it declares."""

from msgspec.structs import replace

from compute.providers import pods
from kubekit.client.client import Client
from kubekit.plane.local import LocalClient
from kubekit.runtime.requests import cluster_name
from tests.support.compute.permission_checks import covers, undeclared
from tests.support.compute.pod_builders import (
    WEB_PORT,
    foreign_pod,
    pod_cell,
    pod_instance,
    pod_of,
    with_files,
    with_policy,
)
from tests.support.compute.pod_kinds import staged_pods
from tests.support.compute.provider_builders import NS, live, name, seen, start
from tests.support.kubekit.request_audit import AuditedTransport, SentRequest

RARE = {"get events": "reading one that was not answered", "patch events": "one that is repeated"}


def test_the_declared_permissions_are_those_that_are_used(tmp_path):
    """None is missing on a real cluster, and none is too many."""
    sent: set[SentRequest] = set()

    async def story(stage):
        role = stage.role("audited", pods.CELL_SELECTORS)
        transport = LocalClient(await stage.plane("dfw"), manager="compute").raw
        await role.engage(cluster_name("dfw"), Client(AuditedTransport(transport, sent.add)))
        nodes = await pod_cell(stage, provider=role)
        client = stage.client("dfw")
        theirs = await client.create(foreign_pod())
        first = with_policy(pod_instance(ports=(WEB_PORT,)))
        await start(stage, first, with_files(pod_instance(1), "none"))
        await seen(stage, available="NameTaken")
        await client.delete(theirs)
        await seen(stage)
        await stage.quiet(60.0)
        pod = await pod_of(stage)
        failed = replace(pod, status=replace(pod.status, phase="Failed", reason="Evicted"))
        await nodes.client.patch_status(pod, failed)
        await stage.quiet(60.0)
        await client.delete(await live(stage))
        await stage.gone("dfw", type(theirs), name(), NS)
        await stage.rest()

    staged_pods(tmp_path, story)

    assert undeclared(sent, pods.PERMISSIONS) == []
    unused = {
        f"{verb} {permission.resource}"
        for permission in pods.PERMISSIONS
        for verb in permission.verbs
        if not any(covers(permission, one) for one in sent if one.verb == verb)
    }
    assert unused == set(RARE)
