"""The TLS of the listener.

A client may show a certificate and need not. One that does not come from our authority, is past its
time or is for another use ends the handshake. Whom a connection speaks for never changes: there is
no renegotiation, and a session that is resumed speaks for whom it did.
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
    """A handshake whose failure is told: the event loop would drop the words with the connection.

    To ask for more bytes makes the loop send what there is. If more come, or nothing does for as
    long as a handshake may take, the connection ends.
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
                self.outgoing.read()  # an alert, which no client that speaks plainly understands
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
    """A context that lacks only its certificate and the authority of the clients."""
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.verify_mode = ssl.CERT_OPTIONAL
    # A ticket also costs a write of its own in each handshake, and local handshakes are cheap.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    return context
