"""The base of every view."""

import msgspec


class View(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What people read of something; a subclass repeats ``frozen`` and ``kw_only``. Its field names in camelCase are those of the JSON.

    Times are ``datetime``, which become RFC 3339; what is not known is None, never a guess.
    """
