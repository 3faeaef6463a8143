"""Which object a request is about."""

import msgspec

from kubekit.client.options import PLAIN_WRITE, WriteOptions
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.users import ITSELF, User


class WriteTarget(msgspec.Struct, frozen=True):
    """An object, how it is to be changed, and by whom. One that is yet to be named has no name."""

    kind: Kind
    namespace: str
    name: str
    options: WriteOptions = PLAIN_WRITE
    user: User = ITSELF

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)
