"""The metrics of every process, for the users that its own cluster allows to read them."""

import http.client
import ssl

import pytest

from tests.e2e.federation.real_stage import PlatformStage

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

PORT = 8443
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


def test_metrics_are_for_users_that_may_read_them(play):
    """No token, a token without the role, and one with it."""

    async def story(stage: PlatformStage) -> None:
        for name in ("project-manager-0", "dfw-manager-0", "lhr-manager-0"):
            plane = name.partition("-")[0]
            port = stage.platform.pods[name].port(PORT)
            assert scraped(port, "")[0] == 401
            async with stage.stack.admin(plane) as admin:
                accounts = "/api/v1/namespaces/default/serviceaccounts"
                await admin.create(accounts, {"metadata": {"name": "scraper"}})
                token = await admin.token("scraper", "default")
                assert scraped(port, token)[0] == 403
                group = "rbac.authorization.k8s.io"
                subject = {"kind": "ServiceAccount", "name": "scraper", "namespace": "default"}
                reference = {"apiGroup": group, "kind": "ClusterRole", "name": ROLE}
                binding = {
                    "metadata": {"name": "scraper"},
                    "roleRef": reference,
                    "subjects": [subject],
                }
                await admin.create(f"/apis/{group}/v1/clusterrolebindings", binding)

            async def is_read(port: int = port, token: str = token) -> bool:
                status, text = scraped(port, token)
                return status == 200 and "controller_runtime_reconcile_total" in text

            await stage.until(is_read, what=f"the metrics of {name}")

    play(story)
