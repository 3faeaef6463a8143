"""The user names of service accounts."""

import re
from typing import Final, NamedTuple

_PREFIX: Final = "system:serviceaccount:"
_ALL: Final = "system:serviceaccounts"
_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_LONGEST: Final = 253


class AccountName(NamedTuple):
    """One service account of a plane."""

    namespace: str
    name: str

    @property
    def user(self) -> str:
        return f"{_PREFIX}{self.namespace}:{self.name}"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of every service account of the namespace."""
        return (_ALL, f"{_ALL}:{self.namespace}")


def account_name(user: str) -> AccountName | None:
    """The service account behind a user name, if it is one."""
    if not user.startswith(_PREFIX):
        return None
    namespace, _, name = user.removeprefix(_PREFIX).partition(":")
    is_account = _LABEL.fullmatch(namespace) and _is_subdomain(name)
    return AccountName(namespace, name) if is_account else None


def _is_subdomain(name: str) -> bool:
    return len(name) <= _LONGEST and all(map(_LABEL.fullmatch, name.split(".")))
