"""What a manager makes of the answers of a plane, at its start."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from compute.app.manager.startup_checks import HUB_NAME, CheckFailed, PlaneCheck, check
from kubekit.api.errors import (
    BadRequest,
    Forbidden,
    InternalError,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from kubekit.client.connection import Connection, ConnectionOrigin
from kubekit.runtime.serving.messages import (
    JSON,
    IncomingRequest,
    OutgoingResponse,
    status_response,
)
from tests.support.kubekit.serving_builders import at_noon, http_server

ORIGIN = ConnectionOrigin("hub.yaml", "hub")


def checked(answer: Callable[[IncomingRequest], OutgoingResponse], *, remote: bool = False) -> bool:
    """The check of a hub that answers so."""

    async def story() -> bool:
        async def handler(request: IncomingRequest) -> OutgoingResponse:
            return answer(request)

        async with http_server(handler) as server:
            url = f"http://127.0.0.1:{server.address.port}"
            plane = Connection(server=url, origin=ORIGIN)
            hub = PlaneCheck(HUB_NAME, plane, (Instance, Workload), remote=remote)
            return await check(hub, at_noon())

    return asyncio.run(story())


def with_kinds(*plurals: str) -> OutgoingResponse:
    resources = [{"name": plural} for plural in plurals]
    return OutgoingResponse(200, msgspec.json.encode({"resources": resources}), JSON)


def test_a_plane_that_serves_everything_passes():
    assert checked(lambda _: with_kinds("instances", "workloads"))


@pytest.mark.parametrize(
    "error", [Unavailable("a"), TooManyRequests("b"), InternalError("c")], ids=repr
)
def test_a_server_in_trouble_is_no_failure(error):
    """It may be starting, or behind a proxy: a cell starts without the hub."""
    assert not checked(lambda _: status_response(error))


def test_a_cell_starts_with_a_credential_that_has_expired(caplog):
    """It works alone until the credential is renewed; every other wrong answer is a mistake."""
    assert not checked(lambda _: status_response(Unauthorized("no")), remote=True)
    assert "the cell works alone" in caplog.text
    with pytest.raises(CheckFailed):
        checked(lambda _: status_response(Forbidden("no")), remote=True)


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (
            with_kinds("instances"),
            "does not serve Workload of compute.datumapis.com/v1alpha: apply",
        ),
        (status_response(NotFound("no")), "does not serve Instance, Workload of "),
        (status_response(Forbidden("no")), "does not let this manager read what it serves: no;"),
        (status_response(Unauthorized("no")), 'the credentials of hub.yaml, context "hub": no;'),
        (status_response(BadRequest("no")), "refuses to be checked: no; correct hub.yaml"),
        (OutgoingResponse(200, b"<html>"), "as no Kubernetes API server does; correct hub.yaml"),
    ],
)
def test_an_answer_that_is_wrong_ends_the_start_with_a_sentence(answer, refusal):
    with pytest.raises(CheckFailed) as caught:
        checked(lambda _: answer)

    assert refusal in str(caught.value)
    assert str(caught.value).startswith("the hub at http://127.0.0.1:")
