"""The small parts of a response: lengths, slices, headers, forms and parameters."""

import gzip
from random import Random

import pytest

from kubekit.api.errors import BadRequest, NotAcceptable, TooManyRequests
from kubekit.api.status import StatusDetails
from kubekit.plane.http.connection import response_heads
from kubekit.plane.http.connection.slices import compressed, slices, takes_gzip
from kubekit.plane.http.content.query_parameters import NOTHING, Parameters
from kubekit.plane.http.content.response_formats import ResponseFormat, form_for
from kubekit.plane.http.messages import SegmentedBody, refusal


@pytest.mark.parametrize("parts", [[], [b"a"], [b"a", b"bc"], [b"x" * 10] * 100])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_slices_joined_are_the_body(parts, size):
    """However it is cut, it is what its length said."""
    body = SegmentedBody(b"[", parts, b"]")
    joined = b"".join(slices(body, size))
    assert joined == b"[" + b",".join(parts) + b"]"
    assert len(body) == len(joined)


def test_bytes_are_cut_too():
    """The last slice is what is left."""
    assert list(slices(b"abcdefg", 3)) == [b"abc", b"def", b"g"]


def test_compressed_slices_are_one_gzip_in_chunks():
    """Every chunk says its size, and together they are the body."""
    plain = [b"hello " * 1000, Random(1).randbytes(500_000), b"", b"world"]
    data, wire = b"", b"".join(compressed(plain))
    while wire:
        size, _, wire = wire.partition(b"\r\n")
        data, wire = data + wire[: int(size, 16)], wire[int(size, 16) + 2 :]
    assert gzip.decompress(data) == b"".join(plain)


@pytest.mark.parametrize(
    ("accept", "taken"),
    [
        ("", False),
        ("gzip", True),
        ("deflate, GZIP ; q=0.3", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0", False),
        ("br", False),
        ("xgzip", False),
    ],
)
def test_gzip_is_for_clients_that_name_it(accept, taken):
    """Silence is no consent, and a quality of 0 is a refusal."""
    assert takes_gzip(accept) is taken


def test_an_unknown_code_has_a_first_line_too():
    """The words after a code are for people."""
    assert response_heads.opening(299, "text/plain").startswith(b"HTTP/1.1 299 Unknown\r\n")


def test_a_refusal_says_when_to_try_again():
    """In the Status and in the header that HTTP has for it."""
    response = refusal(TooManyRequests("later", StatusDetails(retry_after_seconds=7)))
    assert (response.status, response.headers) == (429, (("retry-after", "7"),))


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", ResponseFormat()),
        ("*/*", ResponseFormat()),
        ("application/*", ResponseFormat()),
        ("application/json", ResponseFormat()),
        ("application/vnd.kubernetes.protobuf, application/json", ResponseFormat()),
        ("application/json;stream=watch", ResponseFormat()),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", ResponseFormat("table")),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", ResponseFormat("table", "v1beta1")),
        ("application/json;as=Table;v=v3;g=meta.k8s.io, application/json", ResponseFormat()),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ResponseFormat("partial")),
        (
            "application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io",
            ResponseFormat("table"),
        ),
    ],
)
def test_the_best_liked_form_is_given(accept, form):
    """The first that is asked for and can be had."""
    assert form_for(accept) == form


def test_what_cannot_be_given_is_refused():
    """The message says what can be."""
    with pytest.raises(NotAcceptable, match="application/json"):
        form_for("text/html")


def test_parameters_are_read_as_kubernetes_reads_them():
    """The first of several counts; a switch is on unless it says false; unknown ones are left."""
    said = Parameters("&limit=3&limit=4&watch&pretty=False&dryRun=All&a+b=%2B%20c&=x&")
    assert (said.number("limit"), said.text("a b"), said.texts("dryRun")) == (3, "+ c", ["All"])
    assert (said.flag("watch"), said.flag("pretty"), said.flag("absent")) == (True, False, False)
    assert (said.number("absent"), bool(said), bool(NOTHING)) == (None, True, False)


@pytest.mark.parametrize(("text", "number"), [("-7", -7), ("%2B7", 7), (str(2**63 - 1), 2**63 - 1)])
def test_numbers_may_have_a_sign(text, number):
    """64 bits, no more."""
    assert Parameters(f"limit={text}").number("limit") == number


def test_a_wrong_number_is_named():
    """The message says which parameter."""
    with pytest.raises(BadRequest, match="limit"):
        Parameters(f"limit={2**63}").number("limit")
