"""The versions of the command and of a server, and whether they fit together."""

import asyncio
from typing import Final

import msgspec

from compute.api.compute import Workload
from compute.views.view import View
from kubekit.api.errors import NotFound
from kubekit.client.http.transport import HttpTransport

_GROUP: Final = Workload.RESOURCE.group
_WANTED: Final = Workload.RESOURCE.api_version


class ServerVersionView(View, frozen=True, kw_only=True):
    """A server. Its own version is known where it runs on this machine."""

    server: str
    version: str = ""
    kubernetes: str = ""
    api_versions: tuple[str, ...] = ()


class VersionView(View, frozen=True, kw_only=True):
    """Both versions, and what does not fit together."""

    client: str
    server: ServerVersionView | None = None
    skew: str = ""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str


class _Group(msgspec.Struct, rename="camel"):
    versions: tuple[_GroupVersion, ...] = ()


async def read_server_version(
    transport: HttpTransport, server: str, version: str
) -> ServerVersionView:
    """What a server reports. One that does not serve compute has no versions of its API."""
    kubernetes, group = await asyncio.gather(kubernetes_version(transport), _group(transport))
    return ServerVersionView(
        server=server,
        version=version,
        kubernetes=kubernetes,
        api_versions=tuple(each.group_version for each in group.versions),
    )


async def kubernetes_version(transport: HttpTransport) -> str:
    """The version of the Kubernetes API, such as ``v1.33.0``; empty if the answer does not name it."""
    answer = await transport.call("GET", "/version")
    try:
        return msgspec.json.decode(answer, type=_Version).git_version
    except msgspec.MsgspecError:
        return ""


async def _group(transport: HttpTransport) -> _Group:
    try:
        return msgspec.json.decode(await transport.call("GET", f"/apis/{_GROUP}"), type=_Group)
    except (NotFound, msgspec.MsgspecError):  # the latter is the page of something else
        return _Group()


def compared(client: str, server: ServerVersionView | None) -> VersionView:
    """Both versions, with a sentence where they do not fit together."""
    return VersionView(client=client, server=server, skew=_skew(client, server) if server else "")


def _skew(client: str, server: ServerVersionView) -> str:
    if not server.api_versions:
        return f"the server does not serve {_GROUP}; choose another server or a project"
    if _WANTED not in server.api_versions:
        served = ", ".join(server.api_versions)
        return f"the server serves {served}, and this command needs {_WANTED}"
    if server.version and server.version != client:
        return (
            f"the platform on this machine runs version {server.version}, and this command has "
            f"{client}; `compute down`, then `compute up` updates it"
        )
    return ""
