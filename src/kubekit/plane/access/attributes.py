"""A request in the words of an access rule."""

import msgspec


class Attributes(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What somebody wants to do.

    ``path`` is for what is no resource (discovery, health); where it is empty, the request is one
    for a resource. The name is that of one object; a list or watch that is narrowed to one by the
    field ``metadata.name`` has its name too, and what concerns a namespace itself is in it.
    """

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
