"""The metrics of every process, for the users that its own cluster allows to read them."""

import http.client
import ssl

import pytest

from tests.e2e.federation.real_stage import PlatformStage
from tests.peers.stack.admin import Admin

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

PORT = 8443
GROUP = "rbac.authorization.k8s.io"
ROLE = "compute-metrics-reader"


def scraped(port: int, token: str) -> tuple[int, str]:
    """The answer of a metrics server. Its certificate is its own, as no issuer is there."""
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trust, timeout=10)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


async def token(admin: Admin, account: str) -> str:
    """A token of a new service account."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    await admin.create(path, {"metadata": {"name": account}})
    return await admin.token(account, "default")


async def bind(admin: Admin) -> None:
    """Let the account ``scraper`` read metrics, and wait until the server knows of it."""
    subject = {"kind": "ServiceAccount", "name": "scraper", "namespace": "default"}
    reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": ROLE}
    binding = {"metadata": {"name": "scraper"}, "roleRef": reference, "subjects": [subject]}
    await admin.create(f"/apis/{GROUP}/v1/clusterrolebindings", binding)
    user = "system:serviceaccount:default:scraper"
    attributes = {"path": "/metrics", "verb": "get"}
    spec = {"user": user, "nonResourceAttributes": attributes}
    await admin.until_allowed(spec)


def test_metrics_are_for_users_that_may_read_them(play):
    """No token, a token without the role, and one with it."""

    async def story(stage: PlatformStage) -> None:
        for name in ("project-manager-0", "dfw-manager-0", "lhr-manager-0"):
            plane = name.partition("-")[0]
            port = stage.platform.pods[name].port(PORT)
            async with stage.stack.admin(plane) as admin:
                await bind(admin)
                stranger, scraper = [await token(admin, each) for each in ("stranger", "scraper")]
            assert scraped(port, "")[0] == 401
            assert scraped(port, stranger)[0] == 403
            status, text = scraped(port, scraper)
            assert status == 200
            assert "controller_runtime_reconcile_total" in text

    play(story)
