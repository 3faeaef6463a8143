"""Everybody whom a server lets in, by certificate or by token.

A client's certificate is looked at first, then the ``Authorization`` header, as in Kubernetes. Who
was found is kept by the whole header, for as long as nothing has changed that it rests on: a token
that was revoked or has expired, or whose service account is gone, is refused in the next request.

A header is looked up by its hash, which is salted for each process: a text that begins like one that
is known is not told apart from others any later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.http.authentication.bearer_tokens import Tokens, bearer
from kubekit.plane.http.certificates.authority import Certificates
from kubekit.plane.http.messages import Caller, ServerRequest
from kubekit.plane.identity.accounts import ServiceAccounts, VerifiedToken, read_claims
from kubekit.plane.identity.identities import Identity, authenticated
from kubekit.plane.identity.reviews import Spoken
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry.registry import Registry
from kubekit.plane.users import ANONYMOUS

MOST_KEPT: Final = 4096  # headers
_OPEN: Final = frozenset({"/livez", "/readyz", "/version"})
_READING: Final = ("GET", "HEAD")
_NO_ONE: Final = Identity(ANONYMOUS, "anonymous")


@dataclass(slots=True)
class _Known:
    """What was found out about a header, and what it rests on."""

    identity: Identity
    expires: datetime | None
    generation: int
    holder: VerifiedToken | None = None


class Authenticator:
    """Knows who asks."""

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
        self._key = key or SigningKey.fresh()
        self._anonymous_health = anonymous_health
        self._accounts: dict[str, ServiceAccounts] = {}
        self._known: dict[str, _Known] = {}

    @property
    def key(self) -> SigningKey:
        """What signs the tokens of service accounts."""
        return self._key

    def add(self, accounts: ServiceAccounts) -> None:
        """Know the service accounts of a plane."""
        self._accounts[accounts.issuer] = accounts

    def remove(self, issuer: str) -> None:
        """Know the service accounts of a plane no more."""
        self._accounts.pop(issuer, None)
        self._known.clear()

    def user_of(self, request: ServerRequest) -> Identity | None:
        """Who asks. Nobody is told why he is not known.

        What comes of a service account's token is true in one plane only: see `is_known_in`.
        """
        identity = self._of(request.headers, request.caller)
        if identity is None and self._anonymous_health and _is_open(request):
            return _NO_ONE
        return identity

    def knows(self, headers: Mapping[str, str], caller: Caller) -> bool:
        """Whether somebody asks whom one of the planes knows."""
        return self._of(headers, caller) is not None

    def speaks(self, token: str, registry: Registry) -> Spoken | None:
        """Whom a bearer token speaks for in a plane, for whatever audience it is."""
        grant = self._tokens.find(token)
        if grant is not None:
            return Spoken(authenticated(grant.user))
        holder = self._holder(token)
        if holder is None or holder.registry is not registry:
            return None
        return Spoken(holder.user, holder.audiences)

    def _of(self, headers: Mapping[str, str], caller: Caller) -> Identity | None:
        if caller.certificate and self._certificates is not None:
            client = self._certificates.client_of(caller.certificate, self._now())
            if client is not None:
                return client.identity
        header = headers.get("authorization")
        if header is None:
            return None
        known = self._known.get(header)
        if known is not None and self._still_holds(known):
            return known.identity
        return self._found(header)

    def _still_holds(self, known: _Known) -> bool:
        if known.expires is not None and known.expires <= self._now():
            return False
        if known.holder is not None:
            return known.holder.stands()
        return known.generation == self._tokens.generation

    def _found(self, header: str) -> Identity | None:
        """Find it out, and keep it. Only what lets somebody in is kept: nobody else can fill it."""
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
        holder = self._holder(token)
        if holder is None or holder.issuer not in holder.audiences:
            return None
        identity = Identity(holder.user, "serviceaccount", registry=holder.registry)
        return _Known(identity, holder.expires, generation, holder)

    def _holder(self, token: str) -> VerifiedToken | None:
        """Who holds a service account's token, of whichever plane it is."""
        claims = read_claims(self._key, token)
        accounts = None if claims is None else self._accounts.get(claims.iss)
        return None if claims is None or accounts is None else accounts.holder(claims)


def _is_open(request: ServerRequest) -> bool:
    """Whether everybody may ask this. A credential that is wrong is refused here as elsewhere."""
    if "authorization" in request.headers or request.caller.certificate:
        return False
    return request.path in _OPEN and request.method in _READING
