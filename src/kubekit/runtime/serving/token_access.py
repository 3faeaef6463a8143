"""Who may read a page of a process: the API server reviews the token, and then the access.

Both answers are kept for a while, so that a scraper costs a request a minute and not one a scrape. A
revoked token is therefore accepted for one minute more at most.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from kubekit.api.errors import ApiError, Forbidden, TooManyRequests, Unauthorized, Unavailable
from kubekit.api.kinds.authentication import TokenReview, TokenReviewSpec, UserInfo
from kubekit.api.kinds.authorization import (
    NonResourceAttributes,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from kubekit.client.client import Client

_SCHEME: Final = "bearer"
_UNKNOWN: Final = "the token is not valid: send a token of the cluster as Authorization: Bearer"

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessCacheSettings:
    """For how many seconds an answer is kept, for how many tokens, and how many are asked at once."""

    allowed: float = 60.0
    denied: float = 10.0
    entries: int = 1024
    reviews: int = 16


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The answer for one token, and until when it is kept."""

    refusal: ApiError | None
    until: float


class TokenAccess:
    """Checks the bearer token of a request and the right of its user."""

    def __init__(self, client: Client, settings: AccessCacheSettings | None = None) -> None:
        self._client = client
        self._settings = settings or AccessCacheSettings()
        self._verdicts: OrderedDict[tuple[bytes, str, str], _Verdict] = OrderedDict()
        self._reviews = 0

    async def check(self, fields: Mapping[str, str], path: str, verb: str) -> None:
        """Raises an `ApiError` unless the user of the token may do this."""
        token = _bearer_token(fields)
        key = (sha256(token.encode("latin-1")).digest(), path, verb)
        now = asyncio.get_running_loop().time()
        verdict = self._verdicts.get(key)
        if verdict is None or now >= verdict.until:
            verdict = await self._review(token, path, verb)
            self._keep(key, verdict)
        if verdict.refusal is not None:
            raise verdict.refusal

    async def _review(self, token: str, path: str, verb: str) -> _Verdict:
        """Ask the API server. A flood of unknown tokens must not become one of reviews."""
        if self._reviews >= self._settings.reviews:
            raise TooManyRequests("too many tokens to review at once: try again in a second")
        self._reviews += 1
        try:
            refusal = await self._refusal(token, path, verb)
        except ApiError as problem:
            _log.warning("a token was not reviewed", extra={"why": problem.message})
            message = "the token cannot be reviewed now, since the API server does not answer"
            raise Unavailable(message) from problem
        finally:
            self._reviews -= 1
        kept = self._settings.allowed if refusal is None else self._settings.denied
        return _Verdict(refusal, asyncio.get_running_loop().time() + kept)

    async def _refusal(self, token: str, path: str, verb: str) -> ApiError | None:
        status = (await self._client.create(TokenReview(spec=TokenReviewSpec(token=token)))).status
        if not status.authenticated:
            return Unauthorized(_UNKNOWN)
        if await self._is_allowed(status.user, path, verb):
            return None
        return Forbidden(
            f"{status.user.username} may not {verb} {path}: bind a ClusterRole with the "
            f'nonResourceURLs ["{path}"] and the verbs ["{verb}"] to it'
        )

    async def _is_allowed(self, user: UserInfo, path: str, verb: str) -> bool:
        review = SubjectAccessReview(
            spec=SubjectAccessReviewSpec(
                user=user.username,
                groups=user.groups,
                uid=user.uid,
                extra=user.extra,
                non_resource_attributes=NonResourceAttributes(path=path, verb=verb),
            )
        )
        return (await self._client.create(review)).status.allowed

    def _keep(self, key: tuple[bytes, str, str], verdict: _Verdict) -> None:
        self._verdicts[key] = verdict
        self._verdicts.move_to_end(key)
        while len(self._verdicts) > self._settings.entries:
            self._verdicts.popitem(last=False)


def _bearer_token(fields: Mapping[str, str]) -> str:
    """The token. It raises `Unauthorized`."""
    scheme, _, token = fields.get("authorization", "").partition(" ")
    if not scheme:
        raise Unauthorized("a token is required: send it as Authorization: Bearer")
    if scheme.lower() != _SCHEME or not token or not token.isascii() or not token.isprintable():
        raise Unauthorized(_UNKNOWN)
    return token.strip()
