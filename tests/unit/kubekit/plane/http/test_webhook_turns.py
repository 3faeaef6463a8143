"""Webhooks that write to the plane by which they are asked."""

import asyncio
from pathlib import Path

import msgspec
from aiohttp import web

from kubekit.plane.http.fairness import FairnessLimits
from kubekit.plane.http.interfaces import ServerOptions
from tests.support.kubekit.admission_builders import answer, serving as hooks_serving
from tests.support.kubekit.http_builders import CONFIG_MAPS, config_map, connected, request, serving

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
SECRETS = "/api/v1/namespaces/default/secrets"
CROWD = 20


def test_w1_a_webhook_may_write_while_all_seats_are_taken(tmp_path: Path):
    """Many changes wait for it, and it makes one of its own for each: none waits indefinitely."""

    async def story() -> tuple[set[int], list[int]]:
        seams = ServerOptions(fairness=FairnessLimits(in_flight=1, per_plane=1))
        async with serving(tmp_path, seams) as server, hooks_serving(tmp_path) as hooks:
            written: list[int] = []

            async def note(asked: web.Request) -> web.Response:
                review = msgspec.json.decode(await asked.read())["request"]
                body = config_map(f"about-{review['name']}")
                written.append(await send(server.port, "POST", SECRETS, body))
                return web.json_response(answer(review["uid"], {}))

            configuration = msgspec.json.encode(_configuration(hooks.at("note", note)))
            assert await send(server.port, "POST", CONFIGURATIONS, configuration) == 201
            changes = (
                send(server.port, "POST", CONFIG_MAPS, config_map(f"c-{n}")) for n in range(CROWD)
            )
            async with asyncio.timeout(25):  # less than a webhook has
                return set(await asyncio.gather(*changes)), written

    codes, written = asyncio.run(story())
    assert codes == {201}
    assert written == [201] * CROWD


async def send(port: int, method: str, path: str, body: bytes) -> int:
    async with connected(port) as peer:
        return (await peer.ask(request(method, path, body))).code


def _configuration(client: dict[str, str]) -> dict[str, object]:
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    hook = {
        "name": "note.example.com",
        "clientConfig": client,
        "rules": [rule],
        "timeoutSeconds": 30,
        "sideEffects": "NoneOnDryRun",
        "admissionReviewVersions": ["v1"],
    }
    return {"metadata": {"name": "note"}, "webhooks": [hook]}
