"""The service accounts of one plane, and their tokens.

A token is valid in one plane: each plane of a server has its own issuer. It is valid as long as its
account exists with the same uid, and, if it is bound to a Secret, also the Secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.identity.account_names import AccountName
from kubekit.plane.identity.identities import CREDENTIAL
from kubekit.plane.identity.token_reviews import TokenUser
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry.ownership import meta_of
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.collection import Collection
from kubekit.plane.store.records import Record
from kubekit.plane.users import AUTHENTICATED, User

ACCOUNTS: Final = "/serviceaccounts"
SECRETS: Final = "/secrets"
_ISSUER: Final = "https://plane.compute.datumapis.com"


class BoundObject(msgspec.Struct, frozen=True, gc=False):
    """An object that a token is bound to. A new object with the same name has another uid."""

    name: str
    uid: str


class TokenBinding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The account of a token, in the format of Kubernetes' own tokens."""

    namespace: str
    serviceaccount: BoundObject
    secret: BoundObject | None = None


class TokenClaims(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The claims of a token."""

    aud: tuple[str, ...]
    exp: int
    iat: int
    iss: str
    jti: str
    binding: TokenBinding = msgspec.field(name="kubernetes.io")
    nbf: int
    sub: str


_decode: Final = msgspec.json.Decoder(TokenClaims).decode


class _Dependency:
    """An object that must exist for a token to be valid."""

    __slots__ = ("_find", "_key", "_seen", "_uid")

    def __init__(self, collection: Collection, key: str, uid: str) -> None:
        self._find = collection.find
        self._key = key
        self._uid = uid
        self._seen: Record | None = None

    def is_valid(self) -> bool:
        """Whether it exists. The object is decoded only if it has changed."""
        record = self._find(self._key)
        if record is None:
            return False
        if record is not self._seen:
            meta = meta_of(record)
            if meta.uid != self._uid or meta.deleting:
                return False
            self._seen = record
        return True


@dataclass(slots=True)
class VerifiedToken:
    """A token that was verified. It may become invalid later: see `is_valid`."""

    user: User
    issuer: str
    audiences: tuple[str, ...]
    expires: datetime
    registry: Registry
    _dependencies: tuple[_Dependency, ...]

    def is_valid(self) -> bool:
        """Whether all objects that the token depends on exist and are not being deleted."""
        for dependency in self._dependencies:  # noqa: SIM110 - for each request: half the time of all()
            if not dependency.is_valid():
                return False
        return True


class ServiceAccounts:
    """Issues and verifies the tokens of one plane."""

    def __init__(
        self, registry: Registry, key: SigningKey, issuer: str, environment: ExecutionEnvironment
    ) -> None:
        self.registry = registry
        self.issuer = issuer
        self.key = key
        self._environment = environment

    def issue(
        self, binding: TokenBinding, audiences: Sequence[str], lifetime: timedelta
    ) -> tuple[str, datetime]:
        """A new token, and when it expires."""
        start = self._environment.now().astimezone(UTC).replace(microsecond=0)
        now, end = int(start.timestamp()), start + lifetime
        claims = TokenClaims(
            aud=tuple(audiences),
            exp=int(end.timestamp()),
            iat=now,
            iss=self.issuer,
            jti=self._environment.uid(),
            binding=binding,
            nbf=now,
            sub=AccountName(binding.namespace, binding.serviceaccount.name).user,
        )
        return self.key.sign(msgspec.json.encode(claims)), end

    def authenticate_token(self, token: str) -> TokenUser | None:
        """The user of a token that this plane issued."""
        claims = read_claims(self.key, token)
        verified = None if claims is None else self.verify(claims)
        return None if verified is None else TokenUser(verified.user, verified.audiences)

    def verify(self, claims: TokenClaims) -> VerifiedToken | None:
        """The verified token, if the claims are for this plane and valid now. Any audience is accepted."""
        now = self._environment.now().timestamp()
        if claims.iss != self.issuer or not claims.nbf <= now < claims.exp:
            return None
        binding = claims.binding
        name = AccountName(binding.namespace, binding.serviceaccount.name)
        if claims.sub != name.user:
            return None
        expires = datetime.fromtimestamp(claims.exp, UTC)
        verified = VerifiedToken(
            user=_user(name, claims),
            issuer=self.issuer,
            audiences=claims.aud,
            expires=expires,
            registry=self.registry,
            _dependencies=self._dependencies(binding),
        )
        return verified if verified.is_valid() else None

    def _dependencies(self, binding: TokenBinding) -> tuple[_Dependency, ...]:
        collection = self.registry.store.collection
        needed = ((ACCOUNTS, binding.serviceaccount), (SECRETS, binding.secret))
        return tuple(
            _Dependency(collection(resource), f"{binding.namespace}/{named.name}", named.uid)
            for resource, named in needed
            if named is not None
        )


def issuer_of(prefix: str) -> str:
    """The issuer in the tokens of the plane below a path. It is a name, not an address."""
    return "/".join((_ISSUER, *filter(None, prefix.split("/"))))


def read_claims(key: SigningKey, token: str) -> TokenClaims | None:
    """The claims of a token that this key has signed."""
    content = key.read(token)
    if content is None:
        return None
    try:
        return _decode(content)
    except ValueError:  # signed by us, but for another purpose
        return None


def _user(name: AccountName, claims: TokenClaims) -> User:
    extra = {CREDENTIAL: (f"JTI={claims.jti}",)}
    groups = (*name.groups, AUTHENTICATED)
    return User(name.user, groups, claims.binding.serviceaccount.uid, extra)
