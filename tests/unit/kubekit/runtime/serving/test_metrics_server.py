"""The server of metrics: who may read them, and how rarely the API server is asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from kubekit.api.errors import ApiError, Forbidden, TooManyRequests, Unauthorized, Unavailable
from kubekit.api.kinds.authentication import TokenReview, TokenReviewStatus, UserInfo
from kubekit.api.kinds.authorization import SubjectAccessReview, SubjectAccessReviewStatus
from kubekit.client.client import Client, K
from kubekit.client.options import PLAIN_WRITE, WriteOptions
from kubekit.runtime.serving.http_server import ServingSettings
from kubekit.runtime.serving.metrics_server import MetricsServer
from kubekit.runtime.serving.self_signed import SelfSignedTls
from kubekit.runtime.serving.token_access import AccessCacheSettings, TokenAccess
from tests.support.kubekit.http_builders import Peer, Reply, connected
from tests.support.kubekit.serving_builders import anyone, at_noon
from tests.support.kubekit.virtual_time import run

SCRAPER = UserInfo(
    username="scraper", uid="7", groups=("monitoring",), extra={"iam.test/team": ("a", "b")}
)
STRANGER = UserInfo(username="stranger")


class Reviews(Client):
    """A client of an API server that knows two tokens, and lets one of the users read metrics."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.access: list[SubjectAccessReview] = []
        self.users = {"good": SCRAPER, "poor": STRANGER}
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        if isinstance(obj, TokenReview):
            self.tokens.append(obj.spec.token)
            user = self.users.get(obj.spec.token)
            status = TokenReviewStatus(authenticated=user is not None, user=user or UserInfo())
            return replace(obj, status=status)
        assert isinstance(obj, SubjectAccessReview)
        self.access.append(obj)
        allowed = obj.spec.user == SCRAPER.username
        return replace(obj, status=SubjectAccessReviewStatus(allowed=allowed))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def refused(access: TokenAccess, fields: dict[str, str]) -> tuple[type[ApiError], str] | None:
    try:
        await access.check(fields, "/metrics", "get")
    except ApiError as refusal:
        return type(refusal), refusal.message
    return None


def on_virtual_time(
    story: Callable[[Reviews, TokenAccess], Awaitable[None]], **settings: int
) -> None:
    async def whole() -> None:
        reviews = Reviews()
        await story(reviews, TokenAccess(reviews, AccessCacheSettings(**settings)))

    run(whole())


def test_the_user_of_the_token_needs_the_right_to_read():
    """The review of the access has all that is known of the user."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        assert await refused(access, bearer("good")) is None
        assert await refused(access, bearer("poor")) == (
            Forbidden,
            'stranger may not get /metrics: bind a ClusterRole with the nonResourceURLs ["/metrics"] '
            'and the verbs ["get"] to it',
        )
        spec = reviews.access[0].spec
        assert (spec.user, spec.uid, spec.groups, spec.extra) == (
            SCRAPER.username,
            SCRAPER.uid,
            SCRAPER.groups,
            SCRAPER.extra,
        )
        wanted = spec.non_resource_attributes
        assert wanted is not None
        assert (wanted.path, wanted.verb, spec.resource_attributes) == ("/metrics", "get", None)

    on_virtual_time(story)


BAD = {
    "none": "",
    "another scheme": "Basic Z29vZDpnb29k",
    "no token": "Bearer",
    "an empty token": "Bearer ",
    "no ASCII": "Bearer gööd",
    "a line end": "Bearer good\nx",
}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
def test_what_is_no_token_is_refused_without_a_review(value):
    """Only what could be a token costs a request."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        found = await refused(access, {"authorization": value} if value else {})
        assert found is not None
        assert found[0] is Unauthorized
        assert reviews.tokens == []

    on_virtual_time(story)


def test_answers_are_kept_for_a_while():
    """A right for a minute, a refusal for ten seconds, so that both change soon."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        for _ in range(5):
            assert await refused(access, bearer("good")) is None
            assert await refused(access, bearer("new")) is not None
            await asyncio.sleep(1.9)
        assert reviews.tokens == ["good", "new"]
        reviews.users = {"new": SCRAPER}
        await asyncio.sleep(1)
        assert await refused(access, bearer("new")) is None
        assert await refused(access, bearer("good")) is None
        await asyncio.sleep(50)
        assert await refused(access, bearer("good")) is not None

    on_virtual_time(story)


def test_only_so_many_answers_are_kept():
    """The oldest goes first."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        for token in ("a", "b", "c", "c", "a"):
            await refused(access, bearer(token))
        assert reviews.tokens == ["a", "b", "c", "a"]

    on_virtual_time(story, entries=2)


def test_a_flood_of_tokens_does_not_become_a_flood_of_reviews():
    """The rest is asked to come again."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        reviews.gate.clear()
        checks = [asyncio.ensure_future(refused(access, bearer(f"t{n}"))) for n in range(10)]
        await asyncio.sleep(1)
        found = [check.result() for check in checks if check.done()]
        assert [each and each[0] for each in found] == [TooManyRequests] * 7
        reviews.gate.set()
        await asyncio.wait(checks)
        assert len(reviews.tokens) == 3

    on_virtual_time(story, reviews=3)


def test_without_the_api_server_only_known_tokens_are_accepted():
    """No answer is no right, and it is not kept."""

    async def story(reviews: Reviews, access: TokenAccess) -> None:
        await access.check(bearer("good"), "/metrics", "get")
        reviews.failure = Unavailable("no answer")
        assert await refused(access, bearer("good")) is None
        message = "the token cannot be reviewed now, since the API server does not answer"
        assert await refused(access, bearer("poor")) == (Unavailable, message)
        reviews.failure = None
        reviews.users["poor"] = SCRAPER
        assert await refused(access, bearer("poor")) is None

    on_virtual_time(story)


@asynccontextmanager
async def scraped(*, secure: bool, scrape: Callable[[], bytes]) -> AsyncIterator[Peer]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    tls = SelfSignedTls(at_noon(now).now) if secure else None
    access = TokenAccess(Reviews()) if secure else None
    server = MetricsServer(scrape, ServingSettings(tls=tls), access)
    await server.start()
    context = anyone() if secure else None
    try:
        async with connected(server.address.port, context) as peer:
            yield peer
    finally:
        await server.close()
        await server.close()


async def ask(peer: Peer, path: str = "/metrics", method: str = "GET", token: str = "") -> Reply:
    line = f"Authorization: Bearer {token}\r\n" if token else ""
    return await peer.ask(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{line}\r\n".encode())


def test_metrics_are_served_to_users_that_may_read_them():
    """Everything else is refused before the path is looked at."""

    async def story() -> None:
        async with scraped(secure=True, scrape=lambda: b"up 1\n") as peer:
            reply = await ask(peer, token="good")
            assert (reply.code, reply.body) == (200, b"up 1\n")
            assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
            for path in ("/metrics", "/other"):
                reply = await ask(peer, path)
                assert (reply.code, reply.headers["www-authenticate"]) == (401, "Bearer")
                assert (await ask(peer, path, token="poor")).code == 403
            assert (await ask(peer, "/other", token="good")).code == 404
            assert (await ask(peer, method="PUT", token="good")).code == 405

    asyncio.run(story())


def test_metrics_without_secure_serving_are_open():
    """As the original has it: plain HTTP without a token."""

    async def story() -> None:
        async with scraped(secure=False, scrape=lambda: b"up 1\n") as peer:
            assert (await ask(peer)).body == b"up 1\n"

    asyncio.run(story())


def test_tokens_are_never_asked_for_without_tls():
    with pytest.raises(ValueError, match="over TLS only"):
        MetricsServer(bytes, ServingSettings(), TokenAccess(Reviews()))
