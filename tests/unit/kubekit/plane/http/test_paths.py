"""Paths that want to lead out of the plane and into the file system."""

import asyncio
import sys
from itertools import cycle, product

from tests.support.kubekit.http_builders import connected, request, serving

MARK = "d6-planted"
UP = (
    "..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%e0%80%ae%e0%80%ae",
    "%uff0e%uff0e", "..%00", "%00", "...", "..;", "~", "%7e", "C:", "file:",
)  # fmt: skip
BETWEEN = ("/", "//", "%2f", "%2F", "%5c", "\\", "%c0%af", "/./")
DEPTHS = (1, 3, 9, 40)
ROUTES = (
    "/",
    "/api/",
    "/api/v1/namespaces/",
    "/api/v1/namespaces/default/configmaps/",
    "/api/v1/namespaces/default/configmaps/a/",
    "/apis/",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/",
    "/openapi/v2/",
    "/openapi/v3/",
    "/metrics/",
    "/livez/",
    "/.well-known/",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
PATHS = [
    f"{route}{between.join([up] * depth)}{between}{MARK}"
    for (up, between, depth), route in zip(
        product(UP, BETWEEN, DEPTHS), cycle(ROUTES), strict=False
    )
]
FILES = frozenset({"open", "os", "shutil", "glob", "pathlib"})


class Ear:
    """Hears of every name that Python hands to the file system, while it is ``open``."""

    def __init__(self) -> None:
        self.open = True
        self.events: list[str] = []

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.open and event.partition(".")[0] in FILES:
            self.events.append(repr(arguments))


def test_d6_no_path_reaches_the_file_system(tmp_path):
    """Each is refused, and nothing of it is in any name that the process opens, lists or makes."""

    async def story() -> list[int]:
        codes = []
        async with asyncio.timeout(60), serving(tmp_path) as server:
            for path, method in zip(PATHS, cycle(METHODS), strict=False):
                async with connected(server.port) as peer:
                    await peer.send(request(method, path, None, ""))
                    codes.append((await peer.reply(bodiless=method == "HEAD")).code)
        return codes

    ear = Ear()
    sys.addaudithook(ear)  # it cannot be removed, so it is closed afterwards
    codes = asyncio.run(story())
    ear.open = False
    assert len(codes) >= 500
    assert {code // 100 for code in codes} == {4}
    assert str(tmp_path) in "".join(ear.events)  # the plane itself opens files
    assert [name for name in ear.events if MARK in name] == []
