"""Which object a request is about."""

import msgspec

from compute.client.options import PLAIN_WRITE, WriteOptions
from compute.plane.registry.kinds import Kind
from compute.plane.users import ITSELF, User


class Target(msgspec.Struct, frozen=True):
    """An object, how it is to be changed, and by whom. One that is yet to be named has no name."""

    kind: Kind
    namespace: str
    name: str
    options: WriteOptions = PLAIN_WRITE
    user: User = ITSELF

    @property
    def key(self) -> str:
        return self.kind.key(self.namespace, self.name)
