"""The object that a write request is about."""

import msgspec

from kubekit.client.options import PLAIN_WRITE, WriteOptions
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.users import PLANE_USER, User


class WriteTarget(msgspec.Struct, frozen=True):
    """The object to write, the options, and the user. The name is empty until it is generated."""

    kind: Kind
    namespace: str
    name: str
    options: WriteOptions = PLAIN_WRITE
    user: User = PLANE_USER

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)
