"""TokenRequest: a token for a service account, at the account's ``token`` subresource."""

from datetime import datetime, timedelta
from typing import Any, Final

from kubekit.api import errors, fields, times
from kubekit.api.errors import ApiError, BadRequest, Conflict
from kubekit.api.kinds.authentication import TokenRequest
from kubekit.api.kinds.core import Secret, ServiceAccount
from kubekit.api.status import StatusDetails
from kubekit.client.transport import Document
from kubekit.environment import ExecutionEnvironment
from kubekit.plane.identity.service_accounts import (
    ACCOUNTS,
    SECRETS,
    BoundObject,
    ServiceAccounts,
    TokenBinding,
)
from kubekit.plane.identity.web_tokens import LONGEST as LONGEST_TOKEN
from kubekit.plane.registry.ownership import meta_of
from kubekit.plane.registry.virtual_kinds import VirtualRequest

LONGEST: Final = 24 * 3600
"""Seconds. A longer expiration is shortened to this with a warning, as in Kubernetes."""
_SHORTEST: Final = 600
_USUAL: Final = 3600
_LARGEST: Final = 1 << 32
_SECONDS: Final = "spec.expirationSeconds"


class TokenRequests:
    """Answers the token requests of one plane."""

    def __init__(self, accounts: ServiceAccounts, environment: ExecutionEnvironment) -> None:
        self._accounts = accounts
        self._store = accounts.registry.store
        self._now = environment.now

    def answer(self, request: VirtualRequest) -> Document:
        """The request with the token in its status."""
        account = self._find(request)
        document = request.document
        _check_name(document, request.name)
        spec = document.get("spec") or {}
        seconds = _seconds(spec, document["metadata"].get("name", ""), request.warnings)
        reference = spec.get("boundObjectRef")
        binding = TokenBinding(
            request.namespace, account, self._bound(request.namespace, reference)
        )
        audiences = spec.get("audiences") or [self._accounts.issuer]
        token, end = self._accounts.issue(binding, audiences, timedelta(seconds=seconds))
        if len(token) > LONGEST_TOKEN:
            raise BadRequest(
                f"spec.audiences: the token would be longer than {LONGEST_TOKEN} characters"
            )
        return {
            **document,
            "metadata": _metadata(request, account.uid, self._now()),
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": reference,
            },
            "status": {"token": token, "expirationTimestamp": times.format_time(end)},
        }

    def _find(self, request: VirtualRequest) -> BoundObject:
        record = self._store.find(ACCOUNTS, f"{request.namespace}/{request.name}")
        if record is None:
            raise errors.not_found(ServiceAccount.RESOURCE, request.name)
        return BoundObject(request.name, meta_of(record).uid)

    def _bound(self, namespace: str, reference: dict[str, str] | None) -> BoundObject | None:
        """The object that the token is bound to. Only Secrets are supported."""
        if reference is None:
            return None
        if (reference.get("apiVersion"), reference.get("kind")) != ("v1", "Secret"):
            raise BadRequest(f"cannot bind token to object of type {_type(reference)}")
        name, uid = reference.get("name", ""), reference.get("uid", "")
        if not name:
            raise BadRequest("Name parameter required.")
        record = self._store.find(SECRETS, f"{namespace}/{name}")
        if record is None:
            raise errors.not_found(Secret.RESOURCE, name)
        found = meta_of(record).uid
        if uid not in ("", found):
            raise _replaced(name, uid)
        return BoundObject(name, found)


def _check_name(document: Document, name: str) -> None:
    name_in_document = document["metadata"].get("name")
    if name_in_document not in (None, "", name):
        detail = "must match the service account name if specified"
        problem = fields.invalid("metadata.name", name_in_document, detail)
        raise errors.invalid(TokenRequest.RESOURCE, name, [problem])


def _seconds(spec: dict[str, Any], name: str, warnings: list[str]) -> int:
    asked = spec.get("expirationSeconds")
    if asked is None:
        return _USUAL
    seconds = int(asked)
    detail = ""
    if seconds < _SHORTEST:
        detail = "may not specify a duration less than 10 minutes"
    elif seconds > _LARGEST:
        detail = "may not specify a duration larger than 2^32 seconds"
    if detail:
        problem = fields.invalid(_SECONDS, seconds, detail)
        raise errors.invalid(TokenRequest.RESOURCE, name, [problem])
    if seconds > LONGEST:
        warnings.append(f"requested expiration of {seconds} seconds shortened to {LONGEST} seconds")
    return min(seconds, LONGEST)


def _metadata(request: VirtualRequest, uid: str, now: datetime) -> dict[str, str]:
    return {
        "name": request.name,
        "namespace": request.namespace,
        "uid": uid,
        "creationTimestamp": times.format_time(now),
    }


def _type(reference: dict[str, str]) -> str:
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    return f"{group}/{version}, Kind={reference.get('kind', '')}"


def _replaced(name: str, uid: str) -> ApiError:
    message = (
        f'Operation cannot be fulfilled on Secret "{name}": the UID in the bound object reference '
        f"({uid}) does not match the UID in record. The object might have been deleted and then "
        "recreated"
    )
    return Conflict(message, StatusDetails(name=name, kind="Secret"))
