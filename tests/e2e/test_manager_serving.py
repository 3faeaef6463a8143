"""The servers of `compute manager` as processes: webhooks on every replica, and metrics by token."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec
import pytest

from compute.api.compute import Workload
from compute.controllers.management.admission.webhooks import MUTATE, VALIDATE
from kubekit.api import scheme
from kubekit.api.errors import InternalError
from kubekit.api.kinds.admission import (
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
)
from kubekit.api.kinds.authentication import TokenRequest
from kubekit.api.kinds.core import Secret, ServiceAccount
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from kubekit.api.kinds.webhook_clients import WebhookClientConfig
from kubekit.api.meta import ObjectMeta
from kubekit.client.client import Client
from kubekit.client.options import PLAIN_WRITE, PatchType
from kubekit.client.transport import ResourceLocation
from tests.support.compute.managed_world import PROJECT
from tests.support.compute.manager_process import managing
from tests.support.compute.manager_replicas import (
    SECRET,
    ManagedPlanes,
    ServingReplica,
    managed_planes,
    until,
)
from tests.support.compute.validation_builders import sandbox
from tests.support.kubekit.serving_builders import TestAuthority, mounted

LEADING: Final = 'leader_election_master_status{manager="management",name="compute-management"} 1.0'
REVIEWS: Final = 'webhook_requests_total{code="200",manager="management",webhook="%s"}'

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@dataclass
class Replicas:
    """Two replicas of one manager, a client for their pages, and an authority of their webhooks."""

    planes: ManagedPlanes
    both: list[ServingReplica]
    session: aiohttp.ClientSession
    authority: TestAuthority
    certificates: Path
    token: str

    @property
    def project(self) -> Client:
        return self.planes.client(f"admin-project-{PROJECT}")

    async def page(self, replica: ServingReplica, token: str | None = None) -> tuple[int, str]:
        """The code and the text of the metrics."""
        token = self.token if token is None else token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url, trusting = replica.url("metrics", "/metrics"), self.authority.trusting()
        async with self.session.get(url, headers=headers, ssl=trusting) as response:
            return response.status, await response.text()

    async def reviews(self, replica: ServingReplica, path: str) -> float:
        """How many reviews a replica has answered."""
        _, text = await self.page(replica)
        lines = (line for line in text.splitlines() if REVIEWS % path in line)
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    async def leaders(self) -> list[ServingReplica]:
        pages = [await self.page(replica) for replica in self.both]
        return [each for each, (_, text) in zip(self.both, pages, strict=True) if LEADING in text]

    async def call_webhooks_of(self, replica: ServingReplica) -> None:
        """Have the API server of the project send its reviews to this replica too."""
        bundle = base64.b64encode(self.authority.pem).decode()
        target = WebhookClientConfig(url=replica.url("webhooks", VALIDATE), ca_bundle=bundle)
        rule = RuleWithOperations(
            operations=("CREATE", "UPDATE"),
            api_groups=(Workload.RESOURCE.group,),
            api_versions=("v1alpha",),
            resources=("workloads",),
        )
        webhook = ValidatingWebhook(
            name="workload.compute.datumapis.com",
            client_config=target,
            rules=(rule,),
            failure_policy="Fail",
            side_effects="None",
            admission_review_versions=("v1",),
        )
        meta = ObjectMeta(name=replica.log.stem)
        await self.project.create(
            ValidatingWebhookConfiguration(metadata=meta, webhooks=(webhook,))
        )


@asynccontextmanager
async def two_replicas(folder: Path) -> AsyncIterator[Replicas]:
    authority = TestAuthority.new()
    certificates = folder / "certificates"
    mounted(certificates, "1", authority.issue("webhooks"))
    async with managed_planes(folder / "world") as planes, aiohttp.ClientSession() as session:
        await planes.client("core").create(secret(authority.issue("metrics")))
        both = [planes.replica(name, certificates) for name in ("one", "two")]
        with managing(*both):
            await asyncio.gather(*(asyncio.to_thread(each.ready) for each in both))
            token = await scraper(planes.client("core"))
            yield Replicas(planes, both, session, authority, certificates, token)


def secret(pair: tuple[bytes, bytes]) -> Secret:
    """The certificate of the metrics, as cert-manager writes it."""
    data = {
        key: base64.b64encode(pem).decode()
        for key, pem in zip(("tls.crt", "tls.key"), pair, strict=True)
    }
    meta = ObjectMeta(name=SECRET["name"], namespace=SECRET["namespace"])
    return Secret(metadata=meta, data=data, type="kubernetes.io/tls")


async def scraper(core: Client) -> str:
    """The token of a service account that may read metrics."""
    rule = PolicyRule(verbs=("get",), non_resource_urls=("/metrics",))
    await core.create(ClusterRole(metadata=ObjectMeta(name="metrics-reader"), rules=(rule,)))
    token = await account(core, "scraper")
    subject = Subject(kind="ServiceAccount", name="scraper", namespace="default")
    await core.create(
        ClusterRoleBinding(
            metadata=ObjectMeta(name="scraper"),
            subjects=(subject,),
            role_ref=RoleRef(kind="ClusterRole", name="metrics-reader"),
        )
    )
    return token


async def account(core: Client, name: str) -> str:
    """The token of a new service account."""
    await core.create(ServiceAccount(metadata=ObjectMeta(name=name, namespace="default")))
    place = ResourceLocation(ServiceAccount.RESOURCE, "default", name, "token")
    request = msgspec.to_builtins(TokenRequest(), str_keys=True)
    answer = await core.raw.create(place, request, PLAIN_WRITE)
    token: str = answer["status"]["token"]
    return token


async def annotated(client: Client, value: str) -> None:
    """One write of a Workload, which every webhook reviews."""
    place = ResourceLocation(Workload.RESOURCE, "default", "web")
    patch = {"metadata": {"annotations": {"example.com/turn": value}}}
    await client.raw.patch(place, PatchType.MERGE, patch, PLAIN_WRITE)


def test_replicas_serve_metrics_by_token_and_webhooks_whether_they_lead_or_not(
    tmp_path: Path,
) -> None:
    """One story, since its processes take longer to start than all of its steps."""

    async def story() -> None:
        async with two_replicas(tmp_path) as replicas:
            await _metrics_need_a_token_that_may_read_them(replicas)
            await _reviews_are_answered_by_each_replica(replicas)
            await _a_certificate_changes_while_reviews_go_on(replicas)
            await _the_other_replica_serves_and_leads_after_the_leader(replicas)
            await _without_a_replica_writes_are_refused(replicas)

    asyncio.run(story())


async def _metrics_need_a_token_that_may_read_them(replicas: Replicas) -> None:
    """Each token is reviewed by the API server, and so is its right."""
    stranger = await account(replicas.planes.client("core"), "stranger")
    for replica in replicas.both:
        refused = [await replicas.page(replica, each) for each in ("", "made-up", stranger)]
        assert [code for code, _ in refused] == [401, 401, 403]
        assert "system:serviceaccount:default:stranger may not get /metrics" in refused[2][1]
        code, text = await replicas.page(replica)
        assert (code, "workqueue_depth" in text) == (200, True)


async def _reviews_are_answered_by_each_replica(replicas: Replicas) -> None:
    """Refused with every field, or allowed; and by both for each write of the project's API server."""
    wrong = sandbox({"spec/placements/0/cityCodes": ["XXX"]})
    for replica in replicas.both:
        response = await _review(replicas, replica, VALIDATE, wrong)
        assert not response["allowed"]
        assert "spec.placements[0].cityCodes[0]" in response["status"]["message"]
        assert (await _review(replicas, replica, MUTATE, sandbox()))["allowed"]
        await replicas.call_webhooks_of(replica)
    before = [await replicas.reviews(each, VALIDATE) for each in replicas.both]
    await replicas.project.create(scheme.decode_as(Workload, sandbox()))
    after = [await replicas.reviews(each, VALIDATE) for each in replicas.both]
    assert all(now > then for now, then in zip(after, before, strict=True))


async def _a_certificate_changes_while_reviews_go_on(replicas: Replicas) -> None:
    """No write fails, and new connections to both replicas see the new certificate."""
    certificate, key = replicas.authority.issue("next")
    mounted(replicas.certificates, "2", (certificate, key))
    expected = ssl.PEM_cert_to_DER_cert(certificate.decode())
    trusting = replicas.authority.trusting()

    async def changed() -> bool:
        await annotated(replicas.project, str(asyncio.get_running_loop().time()))
        seen = [await each.certificate("webhooks", trusting) for each in replicas.both]
        return seen == [expected, expected]

    await until(changed, "the certificate was not reloaded")
    await annotated(replicas.project, "changed")


async def _the_other_replica_serves_and_leads_after_the_leader(replicas: Replicas) -> None:
    """The API server stops calling the leader first, as a Service does with a pod that ends."""
    await until(replicas.leaders, "no replica leads")
    (leader,) = await replicas.leaders()
    called = await replicas.project.get(ValidatingWebhookConfiguration, leader.log.stem)
    await replicas.project.delete(called)
    assert await asyncio.to_thread(leader.stop) == 0
    await annotated(replicas.project, "without the leader")
    replicas.both.remove(leader)
    await until(replicas.leaders, "the other replica does not lead")


async def _without_a_replica_writes_are_refused(replicas: Replicas) -> None:
    """The webhook configuration says so: Fail."""
    (last,) = replicas.both
    assert await asyncio.to_thread(last.stop) == 0
    with pytest.raises(InternalError, match="failed calling webhook"):
        await annotated(replicas.project, "without any")


async def _review(
    replicas: Replicas, replica: ServingReplica, path: str, workload: dict[str, Any]
) -> dict[str, Any]:
    kind = {"group": Workload.RESOURCE.group, "version": "v1alpha", "kind": "Workload"}
    resource = {**kind, "resource": "workloads"}
    del resource["kind"]
    request = {
        "uid": "1",
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "operation": "CREATE",
        "namespace": "default",
        "object": workload,
        "userInfo": {"username": "ann", "extra": {"iam.miloapis.com/parent-name": [PROJECT]}},
        "options": {},
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    url, trusting = replica.url("webhooks", f"{path}?timeout=10s"), replicas.authority.trusting()
    async with replicas.session.post(url, json=review, ssl=trusting) as response:
        assert response.status == 200
        answer: dict[str, Any] = await response.json()
        assert answer["response"]["uid"] == "1"
        found: dict[str, Any] = answer["response"]
        return found
