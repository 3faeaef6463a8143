"""Admission of Workloads by the webhooks of our manifests, which a real API server calls."""

import pytest
from msgspec.structs import replace

from kubekit.api.errors import Forbidden, Invalid
from kubekit.api.meta import ObjectMeta
from tests.e2e.federation.real_stage import PlatformStage
from tests.peers.deployed.platform import management
from tests.support.compute import builders

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

ROLES = "/apis/rbac.authorization.k8s.io/v1"


async def grant(stage: PlatformStage, role: str) -> None:
    """Bind a cluster role to the account ``deployer`` in the namespace."""
    subject = {"kind": "ServiceAccount", "name": "deployer", "namespace": stage.namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    binding = {"metadata": {"name": role}, "roleRef": reference, "subjects": [subject]}
    async with stage.stack.admin("project") as admin:
        await admin.create(f"{ROLES}/namespaces/{stage.namespace}/rolebindings", binding)


def test_a_network_may_be_used_by_users_with_the_permission(play, tmp_path):
    """A SubjectAccessReview decides: refused without the permission to use it, admitted with it."""

    async def story(stage: PlatformStage) -> None:
        namespace = stage.namespace
        async with stage.stack.admin("project") as admin:
            accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
            await admin.create(accounts, {"metadata": {"name": "deployer"}})
            token = await admin.token("deployer", namespace)
            rule = {
                "apiGroups": ["compute.datumapis.com"],
                "resources": ["workloads"],
                "verbs": ["create", "get"],
            }
            role = {"metadata": {"name": f"deploy-{namespace}"}, "rules": [rule]}
            await admin.create(f"{ROLES}/clusterroles", role)
        await grant(stage, f"deploy-{namespace}")
        kubeconfig = stage.stack.access("project", token).write(tmp_path / "deployer")
        async with stage.stack.client_of(kubeconfig) as deployer:
            wanted = builders.workload("web", builders.placement("home", "DFW"))
            wanted = replace(wanted, metadata=ObjectMeta(name="web", namespace=namespace))

            async def is_refused() -> bool:
                try:
                    await deployer.create(wanted)
                except (Forbidden, Invalid) as refusal:
                    return "network" in str(refusal)
                return False

            await stage.until(is_refused, what="the refusal for want of the network")
            await grant(stage, "compute-editor")

            async def is_admitted() -> bool:
                try:
                    await deployer.create(wanted)
                except (Forbidden, Invalid):
                    return False
                return True

            await stage.until(is_admitted, what="the admission")
        await stage.served("web")

    play(story)


def test_a_workload_that_breaks_a_rule_is_refused_with_its_fields(play):
    """As by the command line: the rules are the same."""

    async def story(stage: PlatformStage) -> None:
        with pytest.raises(Invalid, match="XXX"):
            await stage.create(cities=("XXX",))

    play(story)


def test_every_replica_admits(play):
    """Each in turn is away, and a Workload is admitted by the other."""

    async def story(stage: PlatformStage) -> None:
        names = management(stage.platform.pods)
        for name in names:
            stage.stack.stop(name)
            try:
                await stage.create(f"without-{name}")
            finally:
                await stage.bring_back(name)
        for name in names:
            await stage.served(f"without-{name}")

    play(story)
