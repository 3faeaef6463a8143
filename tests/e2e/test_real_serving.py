"""The servers of a process and a real kube-apiserver: it calls webhooks, and reviews tokens."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.api.errors import InternalError
from kubekit.api.kinds.admission import (
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
)
from kubekit.api.kinds.authentication import TokenRequest
from kubekit.api.kinds.core import ConfigMap, Namespace, ServiceAccount
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from kubekit.api.kinds.webhook_clients import WebhookClientConfig
from kubekit.api.meta import LabelSelector, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.http.client import HttpClient
from kubekit.client.kubeconfig import load
from kubekit.client.options import PLAIN_WRITE
from kubekit.client.transport import ResourceLocation
from kubekit.runtime.serving.http_server import ServingSettings
from kubekit.runtime.serving.metrics_server import MetricsServer
from kubekit.runtime.serving.self_signed import SelfSignedTls
from kubekit.runtime.serving.tls_files import TlsFiles, TlsPaths
from kubekit.runtime.serving.token_access import TokenAccess
from kubekit.runtime.serving.webhook_server import WebhookServer
from tests.support.kubekit.http_builders import connected
from tests.support.kubekit.plane_builders import environment
from tests.support.kubekit.serving_builders import TestAuthority, anyone, mounted

Document = dict[str, Any]
Script = Callable[[Client, str], Awaitable[None]]

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]


def on_real(server: Any, script: Script) -> None:
    """Run a script with a client and a namespace of its own."""

    async def run() -> None:
        surroundings = environment()
        async with HttpClient(load(surroundings, [server.kubeconfig]), surroundings) as client:
            space = await client.create(Namespace(metadata=ObjectMeta(generate_name="serving-")))
            async with asyncio.timeout(60):
                await script(client, space.metadata.name)

    asyncio.run(run())


class Reviews:
    """A webhook that records the requests, and hangs on objects of one name."""

    def __init__(self) -> None:
        self.requests: list[Document] = []

    async def review(self, body: bytes) -> bytes:
        request = msgspec.json.decode(body)["request"]
        self.requests.append(request)
        if request["name"] == "hang":
            await asyncio.Event().wait()
        response = {"uid": request["uid"], "allowed": True}
        return msgspec.json.encode(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        )


@asynccontextmanager
async def reviewing(
    client: Client, space: str, directory: Path, authority: TestAuthority
) -> AsyncIterator[Reviews]:
    """A webhook that the API server calls for each ConfigMap in the namespace."""
    reviews = Reviews()
    mounted(directory, "1", authority.issue("first"))
    settings = ServingSettings(tls=TlsFiles(TlsPaths.within(directory)))
    server = WebhookServer({"/review": reviews.review}, settings, environment())
    await server.start()
    webhook = ValidatingWebhook(
        name="configmaps.example.com",
        client_config=WebhookClientConfig(
            url=f"https://localhost:{server.address.port}/review",
            ca_bundle=base64.b64encode(authority.pem).decode(),
        ),
        rules=(
            RuleWithOperations(
                operations=("CREATE",),
                api_groups=("",),
                api_versions=("v1",),
                resources=("configmaps",),
            ),
        ),
        namespace_selector=LabelSelector(match_labels={"kubernetes.io/metadata.name": space}),
        side_effects="None",
        timeout_seconds=2,
        admission_review_versions=("v1",),
    )
    meta = ObjectMeta(name=space)
    made = await client.create(ValidatingWebhookConfiguration(metadata=meta, webhooks=(webhook,)))
    try:
        await _called(client, space, reviews)
        yield reviews
    finally:
        await client.delete(made)
        await server.close()


async def _called(client: Client, space: str, reviews: Reviews) -> None:
    """Wait until the API server knows the configuration."""
    while not reviews.requests:
        await client.create(config_map(space))


def config_map(space: str, name: str = "", data: str = "") -> ConfigMap:
    meta = ObjectMeta(name=name, generate_name="" if name else "m-", namespace=space)
    return ConfigMap(metadata=meta, data={"data": data})


async def account(client: Client, space: str, name: str) -> str:
    """The token of a new service account."""
    await client.create(ServiceAccount(metadata=ObjectMeta(name=name, namespace=space)))
    place = ResourceLocation(ServiceAccount.RESOURCE, space, name, "token")
    request = msgspec.to_builtins(TokenRequest(), str_keys=True)
    answer = await client.raw.create(place, request, PLAIN_WRITE)
    token: str = answer["status"]["token"]
    return token


def test_a_real_api_server_calls_the_webhooks(real_server, tmp_path):
    """Many at once, large ones, and while the certificate changes: no write fails."""

    async def script(client: Client, space: str) -> None:
        authority = TestAuthority.new()
        async with reviewing(client, space, tmp_path, authority) as reviews:
            await asyncio.gather(*(client.create(config_map(space)) for _ in range(50)))
            await client.create(config_map(space, data="x" * 1_000_000))
            mounted(tmp_path, "2", authority.issue("second"))
            for _ in range(5):
                await client.create(config_map(space))
                await asyncio.sleep(0.3)
            assert len(reviews.requests) >= 57
            assert all(each["userInfo"]["username"] for each in reviews.requests)

    on_real(real_server, script)


def test_a_slow_review_is_explained_by_a_real_api_server(real_server, tmp_path):
    """The answer arrives before the API server gives up, so its user reads which review was slow."""

    async def script(client: Client, space: str) -> None:
        async with reviewing(client, space, tmp_path, TestAuthority.new()):
            with pytest.raises(InternalError, match=r"the review took longer than 1\.8 s"):
                await client.create(config_map(space, "hang"))

    on_real(real_server, script)


def test_a_real_api_server_reviews_the_tokens_of_scrapers(real_server):
    """One that may read, one that may not, and one that is made up."""

    async def script(client: Client, space: str) -> None:
        scraper, stranger = [await account(client, space, each) for each in ("a", "b")]
        rule = PolicyRule(verbs=("get",), non_resource_urls=("/metrics",))
        meta = ObjectMeta(name=space)
        role = await client.create(ClusterRole(metadata=meta, rules=(rule,)))
        bound = Subject(kind="ServiceAccount", name="a", namespace=space)
        reference = RoleRef(kind="ClusterRole", name=space)
        binding = ClusterRoleBinding(metadata=meta, subjects=(bound,), role_ref=reference)
        await client.create(binding)
        settings = ServingSettings(tls=SelfSignedTls(environment().now))
        server = MetricsServer(lambda: b"up 1\n", settings, TokenAccess(client))
        await server.start()
        codes = []
        async with connected(server.address.port, anyone()) as peer:
            for token in (scraper, stranger, "made-up", scraper):
                line = f"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
                codes.append((await peer.ask(line.encode())).code)
        await server.close()
        await client.delete(role)
        assert codes == [200, 403, 401, 200]

    on_real(real_server, script)
