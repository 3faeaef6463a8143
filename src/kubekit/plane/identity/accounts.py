"""The service accounts of one plane, and the tokens that speak for them.

A token says which plane it is for: its issuer is the plane's, and no two planes of a server have the
same. It is worth something for as long as its account is there, under the uid it had, and so is the
Secret that it may be bound to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from kubekit.environment import ExecutionEnvironment
from kubekit.plane.identity.account_names import AccountName
from kubekit.plane.identity.identities import CREDENTIAL
from kubekit.plane.identity.reviews import TokenUser
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
    """An object of the token's namespace, which no other one of its name can replace."""

    name: str
    uid: str


class TokenBinding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Whose token it is, in the words of Kubernetes' own tokens."""

    namespace: str
    serviceaccount: BoundObject
    secret: BoundObject | None = None


class TokenClaims(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a token says."""

    aud: tuple[str, ...]
    exp: int
    iat: int
    iss: str
    jti: str
    binding: TokenBinding = msgspec.field(name="kubernetes.io")
    nbf: int
    sub: str


_decode: Final = msgspec.json.Decoder(TokenClaims).decode


class _Support:
    """An object that must be there for a token to be good."""

    __slots__ = ("_find", "_key", "_seen", "_uid")

    def __init__(self, collection: Collection, key: str, uid: str) -> None:
        self._find = collection.find
        self._key = key
        self._uid = uid
        self._seen: Record | None = None

    def stands(self) -> bool:
        """Whether it is there. Nothing is read that has not changed."""
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
    """Whoever has a token that is good. ``stands`` tells whether it still is."""

    user: User
    issuer: str
    audiences: tuple[str, ...]
    expires: datetime
    registry: Registry
    _supports: tuple[_Support, ...]

    def stands(self) -> bool:
        """Whether all that the token depends on is there, and nobody has asked for its end."""
        for support in self._supports:  # noqa: SIM110 - for each request: half the time of all()
            if not support.stands():
                return False
        return True


class ServiceAccounts:
    """Makes and reads the tokens of one plane."""

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
        """A new token, and when it ends."""
        begin = self._environment.now().astimezone(UTC).replace(microsecond=0)
        now, end = int(begin.timestamp()), begin + lifetime
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
        """Whom a token speaks for that was made here."""
        claims = read_claims(self.key, token)
        holder = None if claims is None else self.verify(claims)
        return None if holder is None else TokenUser(holder.user, holder.audiences)

    def verify(self, claims: TokenClaims) -> VerifiedToken | None:
        """Who holds a token that says so, of this plane and at this time, for whatever audience."""
        now = self._environment.now().timestamp()
        if claims.iss != self.issuer or not claims.nbf <= now < claims.exp:
            return None
        binding = claims.binding
        name = AccountName(binding.namespace, binding.serviceaccount.name)
        if claims.sub != name.user:
            return None
        expires = datetime.fromtimestamp(claims.exp, UTC)
        holder = VerifiedToken(
            user=_user(name, claims),
            issuer=self.issuer,
            audiences=claims.aud,
            expires=expires,
            registry=self.registry,
            _supports=self._supports(binding),
        )
        return holder if holder.stands() else None

    def _supports(self, binding: TokenBinding) -> tuple[_Support, ...]:
        collection = self.registry.store.collection
        needed = ((ACCOUNTS, binding.serviceaccount), (SECRETS, binding.secret))
        return tuple(
            _Support(collection(resource), f"{binding.namespace}/{named.name}", named.uid)
            for resource, named in needed
            if named is not None
        )


def issuer_of(prefix: str) -> str:
    """What the tokens of the plane below a path say where they are from. It is a name, no address."""
    return "/".join((_ISSUER, *filter(None, prefix.split("/"))))


def read_claims(key: SigningKey, token: str) -> TokenClaims | None:
    """What a token says that this key has signed."""
    content = key.read(token)
    if content is None:
        return None
    try:
        return _decode(content)
    except ValueError:  # signed by us, and for something else
        return None


def _user(name: AccountName, claims: TokenClaims) -> User:
    extra = {CREDENTIAL: (f"JTI={claims.jti}",)}
    groups = (*name.groups, AUTHENTICATED)
    return User(name.user, groups, claims.binding.serviceaccount.uid, extra)
