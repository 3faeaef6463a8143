"""The TLS of the listener.

Client certificates are optional. One that is not from our authority, has expired or is for another
use ends the handshake. The user of a connection never changes: there is no renegotiation, and a
resumed session keeps its user.
"""

import ssl
from typing import Final

_PLAIN: Final = b"Client sent an HTTP request to an HTTPS server.\n"
_ANSWER_TO_PLAIN: Final = (
    b"HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(_PLAIN), _PLAIN)
)
_HTTP: Final = "HTTP_REQUEST"
_BAD_CLIENT: Final = "CERTIFICATE_VERIFY_FAILED"


class _Handshake(ssl.SSLObject):
    """A handshake that sends an alert when it fails: the event loop would drop it with the connection.

    Asking for more bytes makes the loop send the alert. The connection ends when more bytes arrive,
    or after the handshake timeout.
    """

    outgoing: ssl.MemoryBIO
    _failed: bool = False

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except ssl.SSLError as problem:
            if self._failed or problem.reason not in (_HTTP, _BAD_CLIENT):
                raise
            self._failed = True
            if problem.reason == _HTTP:
                self.outgoing.read()  # an alert, which a client without TLS does not understand
                self.outgoing.write(_ANSWER_TO_PLAIN)
            raise ssl.SSLWantReadError from problem


class _Context(ssl.SSLContext):
    sslobject_class = _Handshake

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 - the signature of the standard library
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        wrapped = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        assert isinstance(wrapped, _Handshake)
        wrapped.outgoing = outgoing
        return wrapped


def listening_context() -> ssl.SSLContext:
    """A context without its certificate and the authority of the clients, which are loaded later."""
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.verify_mode = ssl.CERT_OPTIONAL
    # A ticket also costs a write of its own in each handshake, and local handshakes are cheap.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    return context
