"""The attributes of a request that access rules refer to."""

import msgspec


class Attributes(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The attributes of one request.

    ``path`` is set for non-resource requests (discovery, health), and empty for resources. ``name``
    is that of one object; a list or watch that the field ``metadata.name`` restricts to one object
    has its name too. A request for a namespace itself has that namespace.
    """

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
