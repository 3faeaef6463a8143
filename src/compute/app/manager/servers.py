"""The servers of a manager process: probes, metrics and webhooks, on every replica.

They start before the controllers: the API server calls the webhooks of a process as soon as it is ready.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import gettempdir
from typing import Final, Self

from compute.app.manager.connections import SINGLE
from compute.app.manager.managed_roles import MANAGEMENT
from compute.app.manager.operator_config import TlsSettings
from compute.app.manager.role_builder import ManagedRole, ManagerSetup
from compute.app.merged_metrics import MergedMetrics
from compute.controllers.management.admission import webhooks
from kubekit.client.http.client import HttpClient
from kubekit.runtime.reporting.health import Health
from kubekit.runtime.scope import cancel_and_wait
from kubekit.runtime.serving.http_server import ServingSettings
from kubekit.runtime.serving.listen_address import ListenAddress, parse_listen_address
from kubekit.runtime.serving.metrics_server import MetricsServer
from kubekit.runtime.serving.probes import Probes
from kubekit.runtime.serving.self_signed import SelfSignedTls
from kubekit.runtime.serving.tls import ServerTls
from kubekit.runtime.serving.tls_files import TlsFiles, TlsPaths
from kubekit.runtime.serving.tls_secret import SecretLocation, TlsSecret
from kubekit.runtime.serving.token_access import TokenAccess
from kubekit.runtime.serving.webhook_server import REVIEW_LIMITS, WebhookServer

_WEBHOOK_CERTIFICATES: Final = Path(gettempdir()) / "k8s-webhook-server" / "serving-certs"
"""Where controller-runtime expects the certificate, unless another folder is named."""


class Servers:
    """Listens from the start to the end of a process. Use it as a context."""

    def __init__(self, setup: ManagerSetup, roles: Sequence[ManagedRole], health: Health) -> None:
        self._setup = setup
        self._health = health
        self._admission = next((role.admission for role in roles if role.admission), None)
        self._metrics = {role.name: role.manager.metrics for role in roles}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _start(self) -> None:
        await self._serve_probes()
        await self._serve_webhooks()
        await self._serve_metrics()

    async def _serve_probes(self) -> None:
        text = self._setup.options.health_probe_bind_address
        address = parse_listen_address(text, "--health-probe-bind-address")
        if address is not None:
            probes = Probes(self._health, address=address)
            await probes.start()
            self._stack.push_async_callback(probes.close)

    async def _serve_webhooks(self) -> None:
        settings = self._setup.config.webhook_server
        if settings is None or self._admission is None:
            return
        tls = await self._tls(settings.tls, settings.client_ca_name, _WEBHOOK_CERTIFICATES)
        is_single = self._setup.config.discovery.mode == SINGLE
        server = WebhookServer(
            webhooks.handlers(self._admission, only_project=SINGLE if is_single else ""),
            ServingSettings(
                address=ListenAddress(settings.host, settings.port), tls=tls, limits=REVIEW_LIMITS
            ),
            self._setup.environment,
        )
        self._metrics[MANAGEMENT].registry.register(server.metrics)
        self._health.ready("webhooks", server.problems)
        await server.start()
        self._stack.push_async_callback(server.close)

    async def _serve_metrics(self) -> None:
        """Metrics over TLS are for tokens that may read them; others are for everyone."""
        settings, setup = self._setup.config.metrics_server, self._setup
        address = parse_listen_address(settings.bind_address, "metricsServer.bindAddress")
        if address is None:
            return
        metrics = MergedMetrics(lambda: self._metrics)
        serving, access = ServingSettings(address=address), None
        if settings.secure_serving:
            client = HttpClient(setup.connections.own, setup.environment)
            self._stack.push_async_callback(client.close)
            access = TokenAccess(client)
            serving = ServingSettings(address=address, tls=await self._metrics_tls(settings.tls))
        server = MetricsServer(metrics.text, serving, access)
        await server.start()
        self._stack.push_async_callback(server.close)

    async def _metrics_tls(self, settings: TlsSettings) -> ServerTls:
        if settings.secret_ref is None and not settings.cert_dir:
            return SelfSignedTls(self._setup.environment.now)
        return await self._tls(settings, "", Path())

    async def _tls(self, settings: TlsSettings, authority: str, folder: Path) -> ServerTls:
        """The certificate in a Secret, or in a folder."""
        reference = settings.secret_ref
        if reference is None:
            directory = Path(settings.cert_dir) if settings.cert_dir else folder
            names = (settings.cert_name, settings.key_name, authority)
            return TlsFiles(TlsPaths.within(directory, *names))
        location = SecretLocation(
            namespace=reference.namespace,
            name=reference.name,
            certificate=settings.cert_name,
            key=settings.key_name,
            client_authority=authority,
        )
        client = HttpClient(self._setup.connections.own, self._setup.environment)
        self._stack.push_async_callback(client.close)
        tls = await TlsSecret.load(client, location)
        task = asyncio.get_running_loop().create_task(tls.run(), name=str(location))
        self._stack.push_async_callback(cancel_and_wait, task)
        return tls
