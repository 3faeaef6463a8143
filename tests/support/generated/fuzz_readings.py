"""All readers of input from clients, the errors they may raise, and some valid input."""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kubekit import cel
from kubekit.api import json_pointer, times
from kubekit.api.errors import ApiError, BadRequest, Invalid, NotAcceptable, NotFound
from kubekit.api.fields import Path as FieldPath
from kubekit.api.int_or_string import scaled
from kubekit.api.quantity import Quantity, QuantityError
from kubekit.api.selectors import field_selectors, label_selectors
from kubekit.api.selectors.label_requirement import SelectorError
from kubekit.client import documents
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.apply import field_sets
from kubekit.plane.http import percent_escapes, routes
from kubekit.plane.http.audit import audit_lines
from kubekit.plane.http.authentication import impersonation
from kubekit.plane.http.connection.peers import Peers
from kubekit.plane.http.connection.request_reader import RequestReader
from kubekit.plane.http.content import request_bodies, response_formats
from kubekit.plane.http.content.protobuf import read_protobuf
from kubekit.plane.http.content.query_parameters import (
    Parameters,
    include_object,
    list_options,
    watch_options,
    write_options,
)
from kubekit.plane.http.limits import Limits
from kubekit.plane.http.messages import ServerRequest
from kubekit.plane.identity.identities import Identity
from kubekit.plane.identity.service_accounts import read_claims
from kubekit.plane.identity.web_tokens import SigningKey
from kubekit.plane.registry import body_decoder, builtins, json_path
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.patch import json_patch, merge_patch, strategic_merge_patch
from kubekit.plane.registry.schema import patterns
from kubekit.plane.registry.verbs import continue_tokens
from kubekit.plane.users import User
from tests.support.generated.spoiling import text_of
from tests.support.kubekit.http_builders import NOW, environment
from tests.support.kubekit.kites import DEFINITION, config_map

KINDS = Kinds(builtins.core())
KEY = SigningKey.generate()
ACCOUNT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "a", "finalizers": ["x/y", "z/z"], "labels": {"a/b": "c"}},
    "secrets": [{"name": "one"}, {"name": "two"}],
}
GOLDEN = json.loads(
    (Path(__file__).parents[2] / "unit/kubekit/plane/http/kubernetes_protobuf.json").read_text()
)


@dataclass(frozen=True)
class Reading:
    """A reader of bytes. It may raise only its ``refusals``."""

    name: str
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]


def encoded(document: object) -> bytes:
    return msgspec.json.encode(document)


def of_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(text_of(data))


def patching(apply: Callable[[dict[str, Any], object], object]) -> Callable[[bytes], object]:
    """A patch in a body: its result can be encoded and decoded, and its input does not change."""

    def read(data: bytes) -> None:
        before = encoded(ACCOUNT)
        made = apply(ACCOUNT, body_decoder.read_json(data))
        assert body_decoder.read_json(encoded(made)) == made
        assert encoded(ACCOUNT) == before

    return read


def merge_strategically(document: dict[str, Any], patch: object) -> object:
    return strategic_merge_patch.apply(
        document, patch, {"secrets": "name", "metadata.finalizers": ""}
    )


def every_use_of_a_query(data: bytes) -> None:
    parameters = Parameters(data.decode("latin-1"))
    uses: tuple[Callable[[Parameters], object], ...] = (
        list_options,
        watch_options,
        include_object,
        lambda said: write_options(said, "PatchOptions", said.text("agent")),
        lambda said: request_bodies.delete_options(ServerRequest("DELETE", "/"), said, 1000),
    )
    for use in uses:
        try:
            use(parameters)
        except ApiError:
            continue


def body_of_a_delete(data: bytes) -> object:
    request = ServerRequest("DELETE", "/", headers={"content-type": "application/json"}, body=data)
    return request_bodies.delete_options(request, Parameters(""), 1 << 20)


def packed_body(data: bytes) -> object:
    headers = {"content-type": "application/merge-patch+json", "content-encoding": "gzip"}
    request = ServerRequest("PATCH", "/", headers=headers, body=data)
    return request_bodies.patch(request, request_bodies.patch_type(request), 1 << 16)


def applied_body(data: bytes) -> object:
    headers = {"content-type": "application/apply-patch+yaml"}
    request = ServerRequest("PATCH", "/", headers=headers, body=data)
    return request_bodies.patch(request, request_bodies.patch_type(request), 1 << 20)


def place(data: bytes) -> object:
    return routes.parse_route(KINDS, routes.segments_of("/" + data.decode("latin-1")))


def pointed(text: str) -> object:
    return json_pointer.resolve(ACCOUNT, json_pointer.parse(text))


def unescaped(data: bytes) -> object:
    return percent_escapes.unescape(data.decode("latin-1"), "it")


def next_page(text: str) -> object:
    return continue_tokens.read(text, "q")


def share(text: str) -> object:
    return scaled(text, 7, round_up=True)


def field_set(data: bytes) -> object:
    """A set of fields: it has one encoding, and it is empty when subtracted from itself."""
    found = field_sets.read(body_decoder.read_json(data))
    assert all(isinstance(path, str) for path in field_sets.paths(found))
    assert field_sets.read(body_decoder.read_json(encoded(found))) == found
    assert field_sets.difference(found, found) == {}
    return found


def condition(text: str) -> object:
    request = {"object": ACCOUNT, "name": "a", "userInfo": {"groups": ["b"]}}
    return cel.holds(cel.condition(text), request, cel.Budget(100_000, 100_000))


def rules_of_a_schema(text: str) -> object:
    """An expression as a rule: judged, and applied where it may be used."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "string"}}},
        "x-kubernetes-validations": [{"rule": text}],
    }
    if cel.definition_errors(schema, FieldPath("spec")):
        return None
    rules = cel.rules_of(schema)
    assert rules is not None
    return rules.errors({"a": ["b"]}, {"a": ["c"]})


def column(text: str) -> object:
    return json_path.compile(text).values(ACCOUNT)


def pattern(text: str) -> None:
    fault = patterns.fault_of(text)
    assert fault is None or fault.startswith("error parsing regexp: ")
    assert isinstance(patterns.matches(text, "some-name.example"), bool)


def token(text: str) -> None:
    """Only a token that was signed with the key is valid."""
    claims = KEY.read(text)
    assert claims is None or text == TOKEN
    assert read_claims(KEY, text) is None


def request_head(data: bytes) -> None:
    reader = RequestReader(Limits(), Peers(Limits(), environment()), _ignore, _ignore_it, _ignore)
    reader.feed(memoryview(data))


def acting_as(data: bytes) -> object:
    """The headers of a client that impersonates. No HTTP reader accepts other names."""
    lines = [line.partition(":") for line in data.decode("latin-1").split("\r\n")]
    headers = {n.lower(): v.strip() for n, _, v in lines if HEADER_NAME.fullmatch(n)}
    request = ServerRequest("GET", "/", headers=headers)
    if not impersonation.asked_for(request):
        return None
    identity = Identity(User("ann"), "token")
    plane: Any = _Plane
    return impersonation.in_plane(identity, request, plane, _Anything())


def audit_line(data: bytes) -> None:
    """An audit line about a user of this name, with all other values."""
    text = data.decode("utf-8", "surrogateescape")
    about = Attributes(verb=text, resource=text, name=text, namespace=text, group=text)
    entry = audit_lines.AuditEntry(
        id=text, at=NOW, seconds=0.1, attributes=about, path=text, code=200, allowed=True,
        user=User(text, (text, text), text), reason=text, how=text, source=text, agent=text,
    )  # fmt: skip
    written = audit_lines.line(entry)
    assert written.isascii()
    assert b"\n" not in written
    assert len(written) <= audit_lines.LONGEST
    assert json.loads(written)["kind"] == "Event"


class _Plane:
    registry = None


class _Anything:
    """An authorizer that allows everything."""

    def check(self, plane: object, user: User, attributes: Attributes) -> None:
        return


def _ignore() -> None:
    return


def _ignore_it(_: object) -> None:
    return


TOKEN = KEY.sign(b'{"sub":"ann"}')
PLACES = (b"api/v1/namespaces/default/configmaps/a", b"apis/events.k8s.io/v1/namespaces/a/events", b"api/v1/watch/namespaces/default/secrets", b"api/v1/namespaces/a%2Db/serviceaccounts/b/token")  # fmt: skip
DOCUMENTS = (
    encoded(ACCOUNT),
    b'{"a":[1,2.5,-3e2,true,null,"\\u00e9\\ud83d\\ude00\\n"],"b":{"":{}}}',
)
MANIFESTS = (config_map("a", b="c").encode(), DEFINITION.encode(), b"a: 'b'\nc: |\n  d\ne: [1, 0o7, .5, ~]\n", b'{"a": "\\ud83d\\ude00"}\n--- \nb: !!str 1')  # fmt: skip
HEAD = b"POST /api/v1/namespaces?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
CHUNKS = (
    b"PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n"
)
PATCH = [
    {"op": "add", "path": "/secrets/-", "value": {"name": "x"}},
    {"op": "move", "from": "/secrets/0", "path": "/metadata/labels/a~1b"},
    {"op": "copy", "from": "/metadata", "path": "/x"},
    {"op": "test", "path": "/kind", "value": "ServiceAccount"},
    {"op": "remove", "path": "/secrets/0"},
    {"op": "replace", "path": "/metadata/name", "value": 1},
]
STRATEGIC = {
    "secrets": [{"name": "one", "$patch": "delete"}, {"name": "new"}],
    "metadata": {
        "$setElementOrder/finalizers": ["z/z", "x/y"],
        "$deleteFromPrimitiveList/finalizers": ["x/y"],
        "labels": {"$retainKeys": ["q"], "q": "r"},
    },
}
FIELDS: dict[str, Any] = {
    "f:spec": {".": {}, "f:a": {}, 'k:{"name":"b","port":80}': {"f:c": {}}, "v:1.5": {}}
}
EXPRESSIONS = (
    b"object.metadata.labels.all(k, object.metadata.labels[k].size() < 64) && request.name != ''",
    b"has(oldObject.spec) ? duration('1h') > duration('2m') : quantity('1Ki').isGreaterThan(quantity('1'))",
    b"[1, 2.0, 3u].map(x, x).filter(x, x > 1).exists_one(x, x == 2) || b'\\x00' == r\"a\".matches('[a-z]+')",
    b"cel.bind(a, {'b': [1][?0].orValue(2)}, a.b + -3 * 4 / 5 % 6) in [1] || format.dns1123Label().validate('a').hasValue()",
)
RULES = (b"self.a.all(x, x.startswith('b')) || self.a == oldSelf.a", b"self.a.size() <= 2 && self.a.sum() > 'x'")  # fmt: skip
PATHS = (b".metadata.labels['a/b']", b".secrets[?(@.name=='one')].name", b".secrets[0:2][-1].name", b".metadata.labels.a\\.b", b".secrets[*].*")  # fmt: skip
HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
ACTING = b"Impersonate-User: ann\r\nImpersonate-Group: crew\r\nImpersonate-Extra-a%2fb: c\r\nImpersonate-Uid: 1"
QUERY = b"limit=5&continue=abc&labelSelector=a%3Db&fieldSelector=metadata.name%3Da&watch=true&dryRun=All&timeoutSeconds=3&fieldManager=me&propagationPolicy=Orphan&gracePeriodSeconds=0&includeObject=None&agent=a/b"  # fmt: skip
CONTINUE = continue_tokens.write(continue_tokens.ContinueToken("q", 5, "a/b")).encode()
ACCEPT = b"application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9, */*;q=0.1"
PROTOBUF = tuple(bytes.fromhex(golden["protobuf"]) for golden in GOLDEN.values())
OPTIONS = encoded({"kind": "DeleteOptions", "preconditions": {"uid": "a"}, "dryRun": ["All"], "propagationPolicy": "Orphan", "gracePeriodSeconds": 0})  # fmt: skip
MISPOINTED = json_pointer.PointerError, json_pointer.PointerSyntaxError
LABELS = (b"a=b,c!=d,e in (f, g),h notin (i),j,!k", b"x/y>5,z<6,a==b")

READINGS = (
    Reading("JSON", body_decoder.read_json, (BadRequest,), DOCUMENTS),
    Reading("YAML", body_decoder.read_yaml, (BadRequest,), MANIFESTS),
    Reading("documents", documents.read, (documents.UnreadableDocument,), MANIFESTS),
    Reading("JSON patch", patching(json_patch.apply), (BadRequest, Invalid), (encoded(PATCH),)),
    Reading("merge patch", patching(merge_patch.apply), (BadRequest,), DOCUMENTS),
    Reading(
        "strategic patch",
        patching(merge_strategically),
        (BadRequest, Invalid),
        (encoded(STRATEGIC),),
    ),
    Reading("applied body", applied_body, (BadRequest,), (*MANIFESTS, *DOCUMENTS)),
    Reading("packed body", packed_body, (ApiError,), (gzip.compress(DOCUMENTS[0], mtime=0),)),
    Reading("delete options", body_of_a_delete, (BadRequest, Invalid), (OPTIONS,)),
    Reading("protobuf", read_protobuf, (ApiError,), PROTOBUF),
    Reading("label selector", of_text(label_selectors.parse), (SelectorError,), LABELS),
    Reading(
        "field selector",
        of_text(field_selectors.parse),
        (SelectorError,),
        (b"a.b=c\\,d,e!=f,g==h",),
    ),
    Reading("quantity", of_text(Quantity.parse), (QuantityError,), (b"1.5Gi", b"-12e6", b"100m")),
    Reading(
        "share", of_text(lambda text: scaled(text, 7, round_up=True)), (ValueError,), (b"25%",)
    ),
    Reading("time", of_text(times.parse), (times.TimeError,), (b"2026-01-02T03:04:05.678+09:00",)),
    Reading("pointer", of_text(pointed), MISPOINTED, (b"/secrets/0/name", b"/a~1b/~0")),
    Reading("escapes", unescaped, (BadRequest,), (b"a%20b%C3%BC",)),
    Reading("path", place, (BadRequest, NotFound), PLACES),
    Reading("query", every_use_of_a_query, (BadRequest,), (QUERY,)),
    Reading("Accept", of_text(response_formats.form_for), (NotAcceptable,), (ACCEPT,)),
    Reading("continue", of_text(next_page), (BadRequest,), (CONTINUE,)),
    Reading("impersonation", acting_as, (BadRequest,), (ACTING,)),
    Reading("HTTP", request_head, (ApiError,), (HEAD, CHUNKS)),
    Reading("set of fields", field_set, (BadRequest, field_sets.BadFields), (encoded(FIELDS),)),
    Reading("condition", of_text(condition), (cel.CelError,), EXPRESSIONS),
    Reading("rule", of_text(rules_of_a_schema), (), RULES),
    Reading("path of a column", of_text(column), (json_path.JsonPathError,), PATHS),
    Reading("pattern", of_text(pattern), (), (b"^[a-z]+(\\.[a-z]{1,3})*$", b"(?i:x|y)\\pL")),
    Reading("token", of_text(token), (), (TOKEN.encode(),)),
    Reading("audit line", audit_line, (), (b"ann@example.test", "\x1b[31mred\u2028".encode())),
)
