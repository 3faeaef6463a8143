"""The addresses that servers listen on, in the form of Go: ``:8081``, ``127.0.0.1:8443``, ``[::1]:0``.

``0`` alone disables a server, as controller-runtime has it.
"""

import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

OFF: Final = "0"
_HIGHEST_PORT: Final = 65535
_FORMS: Final = 'use ":8081", "127.0.0.1:8081", "[::1]:8081", or "0" for none'


class AddressError(ValueError):
    """A text that is not an address to listen on. The message names the setting."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """A host and a port. Without a host it is every address of the machine; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def with_port(self, port: int) -> "ListenAddress":
        return replace(self, port=port)

    def bind(self, backlog: int) -> socket.socket:
        """A listening socket. All addresses are one socket for both families where that works."""
        if not self.host and socket.has_dualstack_ipv6():
            with suppress(OSError):  # a machine may have IPv6 switched off
                return socket.create_server(
                    ("", self.port), family=socket.AF_INET6, backlog=backlog, dualstack_ipv6=True
                )
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self.port), family=family, backlog=backlog)


def parse_listen_address(text: str, field: str) -> ListenAddress | None:
    """The address, or None where the server is disabled. It raises `AddressError`."""
    if text == OFF:
        return None
    host, colon, port = text.rpartition(":")
    if not colon:
        raise _refused(field, text, "it has no port")
    if not (port.isascii() and port.isdigit()) or int(port) > _HIGHEST_PORT:
        raise _refused(field, text, f"the port must be a number from 0 to {_HIGHEST_PORT}")
    bracketed = host.startswith("[") and host.endswith("]")
    if ":" in host and not bracketed:
        raise _refused(field, text, "an IPv6 address must be in brackets")
    host = host[1:-1] if bracketed else host
    if bracketed and ":" not in host:
        raise _refused(field, text, "only an IPv6 address can be in brackets")
    if any(character.isspace() or character in "[]/@" for character in host):
        raise _refused(field, text, "the host is not valid")
    return ListenAddress(host, int(port))


def _refused(field: str, text: str, why: str) -> AddressError:
    return AddressError(f"{field}: {text!r} is not an address to listen on: {why}; {_FORMS}")
