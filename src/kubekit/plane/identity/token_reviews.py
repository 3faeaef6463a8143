"""TokenReview and SelfSubjectReview."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from kubekit.api import times
from kubekit.api.errors import BadRequest
from kubekit.client.transport import Document
from kubekit.plane.registry.virtual_kinds import VirtualRequest
from kubekit.plane.users import User

REVIEWS_OF_TOKENS: Final = "authentication.k8s.io/tokenreviews"
SELF_SUBJECT_REVIEWS: Final = "authentication.k8s.io/selfsubjectreviews"
_INVALID: Final = "invalid bearer token"


@dataclass(frozen=True, slots=True)
class TokenUser:
    """The user of a token. Without audiences the token is valid for every audience."""

    user: User
    audiences: tuple[str, ...] | None = None


AuthenticateToken = Callable[[str], TokenUser | None]
"""Finds the user of a token in a plane, for any audience."""


class TokenReviews:
    """Answers TokenReviews in one plane, whose own audience is ``audience``."""

    def __init__(self, authenticate_token: AuthenticateToken, audience: str) -> None:
        self._authenticate_token = authenticate_token
        self._audience = audience

    def answer(self, request: VirtualRequest) -> Document:
        spec = request.document.get("spec") or {}
        token = spec.get("token", "")
        if not token:
            raise BadRequest("token is required for TokenReview in authentication")
        wanted = spec.get("audiences") or [self._audience]
        return {**request.document, "status": self._status(token, wanted)}

    def _status(self, token: str, wanted: Sequence[str]) -> Document:
        found = self._authenticate_token(token)
        if found is None:
            return {"user": {}, "error": _INVALID}
        offered = (self._audience,) if found.audiences is None else found.audiences
        common = [audience for audience in wanted if audience in offered]
        if not common:
            problem = _foreign(offered, wanted) if found.audiences is not None else _INVALID
            return {"user": {}, "error": problem}
        return {"authenticated": True, "user": user_info(found.user), "audiences": common}


class SelfReviews:
    """Answers SelfSubjectReviews."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def answer(self, request: VirtualRequest) -> Document:
        document = request.document
        return {
            "apiVersion": document["apiVersion"],
            "kind": document["kind"],
            "metadata": {"creationTimestamp": times.format_time(self._now())},
            "status": {"userInfo": user_info(request.user)},
        }


def user_info(user: User) -> dict[str, Any]:
    """The user as the API's UserInfo."""
    info = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    return {key: value for key, value in info.items() if value}


def _foreign(offered: Sequence[str], wanted: Sequence[str]) -> str:
    return (
        f"[{_INVALID}, token audiences {_quoted(offered)} is invalid for the target audiences "
        f"{_quoted(wanted)}]"
    )


def _quoted(texts: Sequence[str]) -> str:
    return "[" + " ".join(msgspec.json.encode(text).decode() for text in texts) + "]"
