"""Authentication of requests, by client certificate or by bearer token.

The client certificate is checked first, then the ``Authorization`` header, as in Kubernetes. The
result is cached by the whole header, for as long as it is valid: a token that is revoked or expired,
or whose service account is deleted, is refused at the next request.

The cache is keyed by the header's hash, which is salted per process: the time of a lookup reveals
nothing about the prefixes of cached headers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens, bearer
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.messages import Caller, ServerRequest
from kubekit.plane.identity.identities import Identity, authenticated
from kubekit.plane.identity.service_accounts import ServiceAccounts, VerifiedToken, read_claims
from kubekit.plane.identity.token_reviews import TokenUser
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import ANONYMOUS

MOST_KEPT: Final = 4096  # headers
_OPEN: Final = frozenset({"/livez", "/readyz", "/version"})
_READING: Final = ("GET", "HEAD")
_ANONYMOUS: Final = Identity(ANONYMOUS, "anonymous")


@dataclass(slots=True)
class _Known:
    """The identity behind a header, and what its validity depends on."""

    identity: Identity
    expires: datetime | None
    generation: int
    token: VerifiedToken | None = None


class Authenticator:
    """Authenticates requests."""

    def __init__(
        self,
        tokens: Tokens,
        environment: ExecutionEnvironment,
        certificates: Certificates | None = None,
        key: SigningKey | None = None,
        *,
        anonymous_health: bool = False,
    ) -> None:
        self._tokens = tokens
        self._now = environment.now
        self._certificates = certificates
        self._key = key or SigningKey.generate()
        self._anonymous_health = anonymous_health
        self._accounts: dict[str, ServiceAccounts] = {}
        self._known: dict[str, _Known] = {}

    @property
    def key(self) -> SigningKey:
        """The key for the tokens of service accounts."""
        return self._key

    def add(self, accounts: ServiceAccounts) -> None:
        """Accept the service accounts of a plane."""
        self._accounts[accounts.issuer] = accounts

    def remove(self, issuer: str) -> None:
        """Stop accepting the service accounts of a plane."""
        self._accounts.pop(issuer, None)
        self._known.clear()

    def user_of(self, request: ServerRequest) -> Identity | None:
        """The identity of the client, or None. The client does not learn the reason.

        The identity of a service account is valid in one plane only: see `is_known_in`.
        """
        identity = self._of(request.headers, request.caller)
        if identity is None and self._anonymous_health and _is_open(request):
            return _ANONYMOUS
        return identity

    def is_authenticated(self, headers: Mapping[str, str], caller: Caller) -> bool:
        """Whether the credentials are valid in one of the planes."""
        return self._of(headers, caller) is not None

    def authenticate_token(self, token: str, registry: Registry) -> TokenUser | None:
        """The user of a bearer token in a plane, for any audience."""
        grant = self._tokens.find(token)
        if grant is not None:
            return TokenUser(authenticated(grant.user))
        verified = self._verified(token)
        if verified is None or verified.registry is not registry:
            return None
        return TokenUser(verified.user, verified.audiences)

    def _of(self, headers: Mapping[str, str], caller: Caller) -> Identity | None:
        if caller.certificate and self._certificates is not None:
            verified = self._certificates.client_of(caller.certificate, self._now())
            if verified is not None:
                return verified.identity
        header = headers.get("authorization")
        if header is None:
            return None
        known = self._known.get(header)
        if known is not None and self._still_valid(known):
            return known.identity
        return self._authenticate(header)

    def _still_valid(self, known: _Known) -> bool:
        if known.expires is not None and known.expires <= self._now():
            return False
        if known.token is not None:
            return known.token.is_valid()
        return known.generation == self._tokens.generation

    def _authenticate(self, header: str) -> Identity | None:
        """Authenticate, and cache. Only successes are cached, so that attackers cannot fill the cache."""
        self._known.pop(header, None)
        token = bearer(header)
        known = self._read(token) if token else None
        if known is None:
            return None
        if len(self._known) >= MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[header] = known
        return known.identity

    def _read(self, token: str) -> _Known | None:
        grant, generation = self._tokens.find(token), self._tokens.generation
        if grant is not None:
            identity = Identity(authenticated(grant.user), "token")
            return _Known(identity, grant.expires, generation)
        verified = self._verified(token)
        if verified is None or verified.issuer not in verified.audiences:
            return None
        identity = Identity(verified.user, "serviceaccount", registry=verified.registry)
        return _Known(identity, verified.expires, generation, verified)

    def _verified(self, token: str) -> VerifiedToken | None:
        """A verified service account token, of any plane."""
        claims = read_claims(self._key, token)
        accounts = None if claims is None else self._accounts.get(claims.iss)
        return None if claims is None or accounts is None else accounts.verify(claims)


def _is_open(request: ServerRequest) -> bool:
    """Whether anonymous requests may read this path. A request with wrong credentials may not."""
    if "authorization" in request.headers or request.caller.certificate:
        return False
    return request.path in _OPEN and request.method in _READING
