"""The versions of the command and of a server, and whether they fit together."""

import asyncio

import pytest

from compute.views.versions import ServerVersionView, compared, read_server_version
from kubekit.api.errors import NotFound

GROUP = b'{"versions": [{"groupVersion": "compute.datumapis.com/v1alpha"}]}'


class Answers:
    """A transport that gives the same answer to each address; an error is raised."""

    def __init__(self, version: bytes, group: bytes | Exception) -> None:
        self._answers = {"/version": version, "/apis/compute.datumapis.com": group}

    async def call(self, method: str, path: str) -> bytes:
        answer = self._answers[path]
        if isinstance(answer, Exception):
            raise answer
        return answer


def read(version: bytes, group: bytes | Exception) -> ServerVersionView:
    return asyncio.run(read_server_version(Answers(version, group), "https://x", ""))  # type: ignore[arg-type]  # only `call` is used


def test_a_server_of_compute():
    """Its Kubernetes version, and the versions of compute's API."""
    view = read(b'{"gitVersion": "v1.33.0"}', GROUP)

    assert (view.kubernetes, view.api_versions) == ("v1.33.0", ("compute.datumapis.com/v1alpha",))
    assert compared("1.0", view).skew == ""


@pytest.mark.parametrize("page", [b"<html>Sign in</html>", b"[]", b""])
@pytest.mark.parametrize("group", [b"<html>", NotFound("no such path")])
def test_a_server_of_something_else(page, group):
    """A page for people is no error of the command, but a server that does not serve compute."""
    view = read(page, group)

    assert (view.kubernetes, view.api_versions) == ("", ())
    assert compared("1.0", view).skew.startswith("the server does not serve compute")


def test_another_version_of_the_platform():
    """The platform on this machine is updated by starting it again."""
    view = ServerVersionView(
        server="x", version="0.9", api_versions=("compute.datumapis.com/v1alpha",)
    )

    assert compared("1.0", view).skew.startswith("the platform on this machine runs version 0.9")


def test_another_version_of_the_api():
    """An older or a newer server is named with what it serves."""
    view = ServerVersionView(server="x", api_versions=("compute.datumapis.com/v2",))

    assert compared("1.0", view).skew == (
        "the server serves compute.datumapis.com/v2, and this command needs "
        "compute.datumapis.com/v1alpha"
    )
