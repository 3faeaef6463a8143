"""Laws of the parser: pieces do not matter, and nothing but a refusal comes of wrong bytes."""

from contextlib import suppress
from itertools import pairwise
from typing import Final

from hypothesis import example, given
from hypothesis.strategies import (
    binary,
    builds,
    composite,
    integers,
    lists,
    sampled_from,
    text,
)

from kubekit.runtime.serving.messages import HttpRefusal, IncomingRequest
from kubekit.runtime.serving.request_parser import BodyAllowance, RequestParser, ServingLimits

LIMITS: Final = ServingLimits(body=1000, bodies=5000, head=2000, url=500, fields=20)


def parsed(pieces: list[bytes]) -> tuple[list[IncomingRequest], HttpRefusal | None, int]:
    """The requests, the refusal if there was one, and what is left of the allowance at the end."""
    allowance = BodyAllowance(LIMITS.bodies)
    parser = RequestParser(LIMITS, allowance)
    refused = None
    try:
        for piece in pieces:
            parser.feed(piece)
    except HttpRefusal as refusal:
        refused = refusal
    requests = list(parser.requests)
    parser.close()
    return requests, refused, allowance.left


def encoded(method: str, path: str, body: bytes, chunk: int) -> bytes:
    head = f"{method} /{path} HTTP/1.1\r\nHost: x\r\n".encode()
    if not chunk:
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    pieces = (body[start : start + chunk] for start in range(0, len(body), chunk))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


REQUESTS: Final = lists(
    builds(
        encoded,
        sampled_from(["GET", "POST", "PUT"]),
        text(alphabet="ab/?=%", max_size=8),
        binary(max_size=40),
        integers(0, 5),
    ),
    min_size=1,
    max_size=5,
)


@composite
def cut(draw, whole=REQUESTS):
    """Requests one after the other, and the same bytes in pieces."""
    data = b"".join(draw(whole))
    places = sorted(draw(lists(integers(0, len(data)), max_size=6)))
    edges = [0, *places, len(data)]
    return data, [data[start:end] for start, end in pairwise(edges)]


@given(cut())
def test_pieces_do_not_matter(data):
    """However the bytes arrive, the requests are the same."""
    whole, pieces = data
    first, second = parsed([whole]), parsed(pieces)
    assert first[1] is None
    assert first[0] == second[0] != []
    assert first[2] == second[2] == LIMITS.bodies


@given(REQUESTS, lists(binary(max_size=6), max_size=4), integers(0, 200))
@example([encoded("POST", "", b"x" * 900, 1)] * 9, [], 0)
def test_wrong_bytes_lead_to_a_refusal_and_nothing_else(requests, noise, place):
    """Every byte of a body is given back, whatever came."""
    data = b"".join(requests)
    spoiled = data[:place] + b"".join(noise) + data[place:]
    _, refused, left = parsed([spoiled])
    assert left == LIMITS.bodies
    assert refused is None or 400 <= refused.status <= 599


@given(binary(max_size=4000))
def test_any_bytes_are_parsed_or_refused(data):
    with suppress(HttpRefusal):
        RequestParser(LIMITS, BodyAllowance(LIMITS.bodies)).feed(data)
