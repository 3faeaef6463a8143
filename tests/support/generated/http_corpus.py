"""Invalid requests. The server must refuse each of them, with a reason."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.kubekit.http_builders import AUTH, CONFIG_MAPS

HOST = b"Host: localhost\r\n"
JSON = b"Content-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
MAPS = CONFIG_MAPS.encode()
GET = b"GET " + MAPS + b" HTTP/1.1\r\n" + HOST + AUTH
POST = b"POST " + MAPS + b" HTTP/1.1\r\n" + HOST + AUTH + JSON
MERGE = b"Content-Type: application/merge-patch+json\r\n"


@dataclass(frozen=True)
class Case:
    """One request. ``closes``: whether the server must close the connection after it."""

    name: str
    raw: bytes
    code: int = 400
    closes: bool = True


def cases() -> Iterator[Case]:
    yield from _lines()
    yield from _headers()
    yield from _lengths()
    yield from _codings()
    yield from _chunks()
    yield from _sizes()
    yield from _credentials()
    yield from _paths()
    yield from _methods()
    yield from _queries()
    yield from _accepts()
    yield from _bodies()
    yield from _protobuf()
    yield from _delete_options()
    yield from _patches()


def _lines() -> Iterator[Case]:
    broken = {
        "nothing but rubbish": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "lower case method": b"get / HTTP/1.1\r\n" + HOST,
        "unknown method": b"FROB / HTTP/1.1\r\n" + HOST,
        "no target": b"GET HTTP/1.1\r\n" + HOST,
        "tab after method": b"GET\t/ HTTP/1.1\r\n" + HOST,
        "leading blank": b" GET / HTTP/1.1\r\n" + HOST,
        "words after version": b"GET / HTTP/1.1 please\r\n" + HOST,
        "version 0.9": b"GET / HTTP/0.9\r\n" + HOST,
        "no version": b"GET /\r\n",
        "version 1.2": b"GET / HTTP/1.2\r\n" + HOST,
        "version 2.0": b"GET / HTTP/2.0\r\n" + HOST,
        "version 11": b"GET / HTTP/11\r\n" + HOST,
        "version without number": b"GET / HTTP/\r\n" + HOST,
        "http2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n",
        "bare line feeds": b"GET / HTTP/1.1\nHost: localhost\n\n",
        "bare carriage return": b"GET / HTTP/1.1\rHost: localhost\r\n",
        "raw NUL in target": b"GET /api\x00 HTTP/1.1\r\n" + HOST,
        "control in target": b"GET /api\x01 HTTP/1.1\r\n" + HOST,
        "delete in target": b"GET /api\x7f HTTP/1.1\r\n" + HOST,
        "high byte in target": b"GET /api/\xff HTTP/1.1\r\n" + HOST,
        "utf-8 in target": "GET /api/ü HTTP/1.1\r\n".encode() + HOST,
        "star target": b"OPTIONS * HTTP/1.1\r\n" + HOST,
        "authority target": b"GET localhost:80 HTTP/1.1\r\n" + HOST,
        "other scheme": b"GET ftp://localhost/ HTTP/1.1\r\n" + HOST,
        "address without host": b"GET http:///api HTTP/1.1\r\n" + HOST,
        "address with query only": b"GET http://localhost?x HTTP/1.1\r\n" + HOST,
        "connect": b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST,
    }
    for name, raw in broken.items():
        yield Case(name, raw + AUTH + b"\r\n")
    # The parser takes it for HTTP/1.0, which does no harm: the path is still looked up.
    yield Case("other protocol", b"GET / RTSP/1.0\r\n" + HOST + AUTH + b"\r\n", 404)


def _headers() -> Iterator[Case]:
    broken = {
        "obs-fold": b"X: a\r\n b\r\n",
        "obs-fold by tab": b"X: a\r\n\tb\r\n",
        "bare CR in value": b"X: a\rb\r\n",
        "bare LF in headers": b"X: a\nY: b\r\n",
        "NUL in value": b"X: a\x00b\r\n",
        "control in value": b"X: a\x01b\r\n",
        "vertical tab in value": b"X: a\x0bb\r\n",
        "delete in value": b"X: a\x7fb\r\n",
        "blank before colon": b"X : a\r\n",
        "tab before colon": b"X\t: a\r\n",
        "no name": b": a\r\n",
        "no colon": b"X\r\n",
        "blank in name": b"X Y: a\r\n",
        "NUL in name": b"X\x00Y: a\r\n",
        "high byte in name": b"X\xff: a\r\n",
        "slash in name": b"X/Y: a\r\n",
        "brackets in name": b"X(Y): a\r\n",
        "second host": b"Host: elsewhere\r\n",
        "upgrade to websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "upgrade to h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
        "upgrade to TLS": b"Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n",
    }
    for name, raw in broken.items():
        yield Case(name, GET + raw + b"\r\n")
    start = b"GET " + MAPS + b" HTTP/1.1\r\n"
    yield Case("no host", start + AUTH + b"\r\n")
    yield Case("host with path", start + b"Host: a/b\r\n" + AUTH + b"\r\n")
    yield Case("host with user", start + b"Host: a@b\r\n" + AUTH + b"\r\n")
    yield Case("first header folded", start + b" Host: localhost\r\n" + AUTH + b"\r\n")
    yield Case("other expectation", POST + b"Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}", 417)


def _lengths() -> Iterator[Case]:
    broken = {
        "twice the same": b"Content-Length: 2\r\nContent-Length: 2\r\n",
        "twice different": b"Content-Length: 2\r\nContent-Length: 3\r\n",
        "list": b"Content-Length: 2, 2\r\n",
        "negative": b"Content-Length: -2\r\n",
        "signed": b"Content-Length: +2\r\n",
        "hexadecimal": b"Content-Length: 0x2\r\n",
        "fraction": b"Content-Length: 2.0\r\n",
        "empty": b"Content-Length:\r\n",
        "word": b"Content-Length: two\r\n",
        "beyond 64 bits": b"Content-Length: 18446744073709551618\r\n",
        "underscore": b"Content-Length: 1_0\r\n",
        "other digits": "Content-Length: ٢\r\n".encode(),
        "blank between digits": b"Content-Length: 1 0\r\n",
    }
    for name, raw in broken.items():
        yield Case(f"length {name}", POST + raw + b"\r\n{}")


def _codings() -> Iterator[Case]:
    broken = {
        "with length after": CHUNKED + b"Content-Length: 7\r\n",
        "with length before": b"Content-Length: 7\r\n" + CHUNKED,
        "twice": CHUNKED + CHUNKED,
        "chunked twice in one": b"Transfer-Encoding: chunked, chunked\r\n",
        "unknown": b"Transfer-Encoding: xchunked\r\n",
        "gzip": b"Transfer-Encoding: gzip\r\n",
        "gzip and chunked": b"Transfer-Encoding: gzip, chunked\r\n",
        "identity": b"Transfer-Encoding: identity\r\n",
        "chunked not last": b"Transfer-Encoding: chunked, gzip\r\n",
        "vertical tab": b"Transfer-Encoding: \x0bchunked\r\n",
        "blank before colon": b"Transfer-Encoding : chunked\r\n",
        "quoted": b'Transfer-Encoding: "chunked"\r\n',
        "folded": b"Transfer-Encoding:\r\n chunked\r\n",
        "empty": b"Transfer-Encoding:\r\n",
        "with parameter": b"Transfer-Encoding: chunked;q=1\r\n",
    }
    for name, raw in broken.items():
        yield Case(f"coding {name}", POST + raw + b"\r\n2\r\n{}\r\n0\r\n\r\n")
    old = POST.replace(b"HTTP/1.1", b"HTTP/1.0")
    yield Case("coding in HTTP/1.0", old + CHUNKED + b"\r\n2\r\n{}\r\n0\r\n\r\n")


def _chunks() -> Iterator[Case]:
    broken = {
        "negative size": b"-2\r\n{}\r\n0\r\n\r\n",
        "signed size": b"+2\r\n{}\r\n0\r\n\r\n",
        "prefixed size": b"0x2\r\n{}\r\n0\r\n\r\n",
        "no size": b"\r\n{}\r\n0\r\n\r\n",
        "blank after size": b"2 \r\n{}\r\n0\r\n\r\n",
        "blank before size": b" 2\r\n{}\r\n0\r\n\r\n",
        "underscore in size": b"1_0\r\n{}\r\n0\r\n\r\n",
        "size beyond 64 bits": b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "word as size": b"zz\r\n{}\r\n0\r\n\r\n",
        "line feed after size": b"2\n{}\r\n0\r\n\r\n",
        "carriage return only": b"2\r{}\r\n0\r\n\r\n",
        "too much data": b"2\r\n{}}\r\n0\r\n\r\n",
        "no line end after data": b"2\r\n{}0\r\n\r\n",
        "line feed after data": b"2\r\n{}\n0\r\n\r\n",
        "broken trailer": b"2\r\n{}\r\n0\r\nX : y\r\n\r\n",
        "folded trailer": b"2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n",
        "NUL in extension": b"2;a=\x00\r\n{}\r\n0\r\n\r\n",
    }
    for name, raw in broken.items():
        yield Case(f"chunk {name}", POST + CHUNKED + b"\r\n" + raw)


def _sizes() -> Iterator[Case]:
    mib = 1 << 20
    yield Case("length over limit", POST + b"Content-Length: %d\r\n\r\n" % (3 * mib + 1), 413)
    yield Case("length far over limit", POST + b"Content-Length: 9000000000000000000\r\n\r\n", 413)
    chunk = b"%x\r\n%b\r\n" % (mib, b" " * mib)
    yield Case("chunks over limit", POST + CHUNKED + b"\r\n" + chunk * 4 + b"0\r\n\r\n", 413)
    bomb = gzip.compress(b" " * (4 * mib))
    head = b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    yield Case("unpacked over limit", POST + head + bomb, 413, closes=False)
    yield Case("long URL", b"GET /" + b"a" * 8192 + b" HTTP/1.1\r\n" + HOST + AUTH + b"\r\n", 414)
    yield Case("endless URL", b"GET /" + b"a" * 100_000, 414)
    yield Case("long query", b"GET /?" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414)
    yield Case("long header", GET + b"X: " + b"a" * 40_000 + b"\r\n\r\n", 431)
    yield Case("endless header", GET + b"X: " + b"a" * 100_000, 431)
    yield Case("endless header name", GET + b"X" * 100_000, 431)
    yield Case("many headers", GET + b"".join(b"X%d: a\r\n" % n for n in range(101)) + b"\r\n", 431)
    yield Case("large headers", GET + b"".join(b"X%d: %b\r\n" % (n, b"a" * 1000) for n in range(40)) + b"\r\n", 431)  # fmt: skip
    trailers = b"".join(b"X%d: a\r\n" % n for n in range(101))
    yield Case("many trailers", POST + CHUNKED + b"\r\n2\r\n{}\r\n0\r\n" + trailers + b"\r\n", 431)


def _credentials() -> Iterator[Case]:
    headers = {
        "none": b"",
        "empty": b"Authorization:\r\n",
        "scheme only": b"Authorization: Bearer\r\n",
        "empty token": b"Authorization: Bearer \r\n",
        "wrong token": b"Authorization: Bearer wrong\r\n",
        "other case": AUTH.replace(b"a-token", b"A-token"),
        "token with tail": AUTH.replace(b"\r\n", b"x\r\n"),
        "two tokens": AUTH.replace(b"\r\n", b" x\r\n"),
        "basic": b"Authorization: Basic dGVzdGVyOmEtdG9rZW4tZm9yLXRlc3Rz\r\n",
        "twice": AUTH + AUTH,
        "8 KB": b"Authorization: Bearer " + b"a" * 8000 + b"\r\n",
        "high bytes": b"Authorization: Bearer \xff\xfe\r\n",
        "impersonation": b"Impersonate-User: tester\r\n",
    }
    for name, raw in headers.items():
        start = b"GET " + MAPS + b" HTTP/1.1\r\n" + HOST
        yield Case(f"credentials {name}", start + raw + b"\r\n", 401, closes=False)
    yield Case("acting as no user", GET + b"Impersonate-Group: crew\r\n\r\n", 400, closes=False)


def _paths() -> Iterator[Case]:
    paths: dict[str, tuple[str, int]] = {
        "dots": (f"{CONFIG_MAPS}/..", 400),
        "one dot": (f"{CONFIG_MAPS}/.", 400),
        "escaped dots": (f"{CONFIG_MAPS}/%2e%2e", 400),
        "half escaped dots": (f"{CONFIG_MAPS}/.%2E", 400),
        "twice escaped dots": (f"{CONFIG_MAPS}/%252e%252e", 400),
        "dots as namespace": ("/api/v1/namespaces/../configmaps/a", 400),
        "up and down": ("/api/v1/namespaces/default/../../../etc/passwd", 404),
        "escaped slash": (f"{CONFIG_MAPS}/a%2fb", 400),
        "escaped slash in namespace": ("/api/v1/namespaces/a%2fb/configmaps", 400),
        "escaped NUL": (f"{CONFIG_MAPS}/a%00b", 400),
        "half an escape": (f"{CONFIG_MAPS}/a%2", 400),
        "escape of nothing": (f"{CONFIG_MAPS}/a%", 400),
        "escape of words": (f"{CONFIG_MAPS}/a%zz", 400),
        "escape with sign": (f"{CONFIG_MAPS}/a%+1", 400),
        "not UTF-8": (f"{CONFIG_MAPS}/a%ff", 400),
        "overlong slash": (f"{CONFIG_MAPS}/%c0%af", 400),
        "surrogate": (f"{CONFIG_MAPS}/%ed%a0%80", 400),
        "double slash": ("/api/v1//configmaps", 404),
        "double slash first": ("//api/v1/namespaces", 404),
        "empty namespace": ("/api/v1/namespaces//configmaps", 404),
        "empty name": (f"{CONFIG_MAPS}//status", 404),
        "unknown kind": ("/api/v1/things", 404),
        "unknown group": ("/apis/unknown/v1/things", 404),
        "empty group": ("/apis//v1/configmaps", 404),
        "unknown version": ("/api/v2/configmaps", 404),
        "unknown part": (f"{CONFIG_MAPS}/a/status", 404),
        "scale of what has none": (f"{CONFIG_MAPS}/a/scale", 404),
        "too deep": (f"{CONFIG_MAPS}/a/b/c", 404),
        "namespaced kind without namespace": ("/api/v1/configmaps/a", 404),
        "cluster kind in namespace": ("/api/v1/namespaces/default/namespaces/a", 404),
        "nothing to watch": ("/api/v1/watch", 404),
        "unknown plane": ("/clusters/nowhere/api/v1/namespaces/default", 404),
        "backslashes": (f"{CONFIG_MAPS}/..\\..\\a", 404),
        "absent": (f"{CONFIG_MAPS}/absent", 404),
        "other capitals": ("/API/v1/namespaces/default", 404),
    }
    for name, (path, code) in paths.items():
        raw = f"GET {path} HTTP/1.1\r\n".encode() + HOST + AUTH + b"\r\n"
        yield Case(f"path {name}", raw, code, closes=False)


def _methods() -> Iterator[Case]:
    wrong = {
        "post on object": ("POST", f"{CONFIG_MAPS}/a"),
        "put on collection": ("PUT", CONFIG_MAPS),
        "patch on collection": ("PATCH", CONFIG_MAPS),
        "post everywhere": ("POST", "/api/v1/configmaps"),
        "delete everywhere": ("DELETE", "/api/v1/configmaps"),
        "delete all namespaces": ("DELETE", "/api/v1/namespaces"),
        "options": ("OPTIONS", CONFIG_MAPS),
        "trace": ("TRACE", CONFIG_MAPS),
        "delete on watch path": ("DELETE", "/api/v1/watch/namespaces/default/configmaps/a"),
        "post on watch path": ("POST", "/api/v1/watch/namespaces/default/configmaps"),
        "delete on status": ("DELETE", "/api/v1/namespaces/default/status"),
    }
    for name, (method, path) in wrong.items():
        raw = f"{method} {path} HTTP/1.1\r\nContent-Length: 0\r\n".encode() + HOST + AUTH + b"\r\n"
        yield Case(f"method {name}", raw, 405, closes=False)


def _queries() -> Iterator[Case]:
    queries: dict[str, tuple[str, int]] = {
        "limit word": ("limit=many", 400),
        "limit fraction": ("limit=1.5", 400),
        "limit beyond 64 bits": ("limit=9223372036854775808", 400),
        "limit of 5000 digits": ("limit=" + "9" * 5000, 400),
        "limit other digits": ("limit=%D9%A2", 400),
        "limit underscore": ("limit=1_0", 400),
        "limit blank": ("limit=+1", 400),
        "limit sign only": ("limit=-", 400),
        "timeout word": ("timeoutSeconds=soon", 400),
        "watch timeout word": ("watch=true&timeoutSeconds=soon", 400),
        "watch limit word": ("watch=true&limit=some", 400),
        "version word": ("resourceVersion=new", 400),
        "version negative": ("resourceVersion=-1", 400),
        "watch version word": ("watch=true&resourceVersion=new", 400),
        "version match unknown": ("resourceVersion=1&resourceVersionMatch=About", 422),
        "version match alone": ("resourceVersionMatch=Exact", 422),
        "watch match unknown": ("watch=1&resourceVersion=1&resourceVersionMatch=About", 422),
        "initial events of a list": ("sendInitialEvents=true", 422),
        "label selector": ("labelSelector=a%3D%3D%3D", 400),
        "label selector brackets": ("labelSelector=a%20in%20(", 400),
        "field selector": ("fieldSelector=a", 400),
        "field selector unknown": ("fieldSelector=spec.colour%3Dred", 400),
        "continue rubbish": ("continue=rubbish", 400),
        "continue not UTF-8": ("continue=%ff", 400),
        "half an escape": ("limit=%1", 400),
        "escape in name": ("%zz=1", 400),
        "NUL": ("labelSelector=a%00", 400),
        "surrogate": ("labelSelector=%ed%a0%80", 400),
        "too many": ("&".join(f"a{n}=1" for n in range(101)), 400),
        "include rubbish": ("includeObject=All", 400),
        "future version": ("resourceVersion=999999999&resourceVersionMatch=NotOlderThan", 504),
    }
    for name, (query, code) in queries.items():
        raw = f"GET {CONFIG_MAPS}?{query} HTTP/1.1\r\n".encode() + HOST + AUTH + b"\r\n"
        yield Case(f"query {name}", raw, code, closes=False)
    writing = {
        "dry run unknown": "dryRun=Some",
        "dry run empty": "dryRun=",
        "validation unknown": "fieldValidation=Maybe",
        "manager control": "fieldManager=%01",
        "manager too long": "fieldManager=" + "a" * 129,
    }
    body = b'{"metadata":{"name":"never"}}'
    for name, query in writing.items():
        head = f"POST {CONFIG_MAPS}?{query} HTTP/1.1\r\nContent-Length: {len(body)}\r\n".encode()
        raw = head + HOST + AUTH + JSON + b"\r\n" + body
        yield Case(f"query {name}", raw, 422, closes=False)


def _accepts() -> Iterator[Case]:
    for name, value in {
        "text": "text/plain",
        "yaml only": "application/yaml",
        "protobuf only": "application/vnd.kubernetes.protobuf",
        "unknown form": "application/json;as=Chart;v=v1;g=meta.k8s.io",
        "unknown version of Table": "application/json;as=Table;v=v9;g=meta.k8s.io",
        "unknown group of Table": "application/json;as=Table;v=v1;g=elsewhere",
        "json refused": "application/json;q=0",
    }.items():
        yield Case(f"accept {name}", GET + f"Accept: {value}\r\n\r\n".encode(), 406, closes=False)


def _bodies() -> Iterator[Case]:
    texts: dict[str, bytes] = {
        "empty": b"",
        "half": b"{",
        "list": b"[]",
        "number": b"5",
        "null": b"null",
        "text": b'"x"',
        "trailing rubbish": b'{"metadata":{"name":"never"}}x',
        "two documents": b"{}{}",
        "not UTF-8": b'{"metadata":{"name":"\xff"}}',
        "byte order mark": b'\xef\xbb\xbf{"metadata":{"name":"never"}}',
        "NaN": b'{"metadata":{"name":"never"},"x":NaN}',
        "duplicate key": b'{"metadata":{"name":"never"},"metadata":{"name":"never2"}}',
        "5000 digits": b'{"metadata":{"name":"never"},"x":' + b"9" * 5000 + b"}",
        "1e400": b'{"metadata":{"name":"never"},"x":1e400}',
        "lone surrogate": b'{"metadata":{"name":"never"},"data":{"a":"\\ud800"}}',
        "NUL": b'{"metadata":{"name":"never"},"data":{"a":"\\u0000"}}',
        "deep": b"[" * 100_000,
        "deep objects": b'{"a":' * 50_000,
        "metadata is text": b'{"metadata":"never"}',
        "other kind": b'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"never"}}',
        "other namespace": b'{"metadata":{"name":"never","namespace":"elsewhere"}}',
    }
    for name, body in texts.items():
        yield Case(f"body {name}", _post(body), closes=False)
    yield Case("body in plain text", _post(b"{}", b"text/plain"), 415, closes=False)
    yield Case("body of two types", _post(b"{}", b"application/json, text/plain"), 415, closes=False)  # fmt: skip
    yield Case("body yaml deep", _post(b"[" * 30_000, b"application/yaml"), closes=False)
    yield Case("body yaml aliases", _post(b"a: &a [x]\nb: [*a,*a]\nc: !!python/object:os.system {}", b"application/yaml"), closes=False)  # fmt: skip
    packed = {
        "not gzip": (b"gzip", b"{}", 400),
        "half gzip": (b"gzip", gzip.compress(b'{"metadata":{"name":"never"}}')[:-9], 400),
        "gzip and more": (b"gzip", gzip.compress(b"{}") + b"more", 400),
        "gzip twice": (b"gzip, gzip", gzip.compress(gzip.compress(b"{}")), 415),
        "deflate": (b"deflate", b"{}", 415),
        "brotli": (b"br", b"{}", 415),
    }
    for name, (coding, body, code) in packed.items():
        head = b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (coding, len(body))
        yield Case(f"body {name}", POST + head + body, code, closes=False)


def _protobuf() -> Iterator[Case]:
    config_map = b"\x0a\x0f\x0a\x02v1\x12\x09ConfigMap"
    named = config_map + b"\x12\x0b\x0a\x09\x0a\x07\x6e\x65\x76\x65\x72\x2d\x31"
    said: dict[str, tuple[bytes, int]] = {
        "JSON": (b"{}", 400),
        "nothing": (b"", 400),
        "no kind": (b"k8s\0", 415),
        "unknown kind": (b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod", 415),
        "half a field": (b"k8s\0\x0a\xff", 400),
        "ends within": (b"k8s\0" + named[:-1], 400),
        "endless number": (b"k8s\0" + b"\xff" * 20, 400),
        "unknown wire type": (b"k8s\0\x0f", 400),
        "group": (b"k8s\0\x0b\x0c", 400),
        "number for text": (b"k8s\0\x08\x01", 400),
        "text for number": (b"k8s\0" + config_map + b"\x12\x04\x22\x02ab", 400),
        "not UTF-8": (b"k8s\0" + config_map + b"\x12\x05\x0a\x03\x0a\x01\xff", 400),
        "NUL": (b"k8s\0" + config_map + b"\x12\x05\x0a\x03\x0a\x01\x00", 400),
        "size beyond 64 bits": (b"k8s\0\x0a" + b"\xff" * 9 + b"\x01", 400),
        "time out of range": (
            b"k8s\0" + config_map + b"\x12\x0e\x0a\x0c\x42\x0a\x08" + b"\xff" * 8 + b"\x7f", 400,
        ),
        "other encoding": (b"k8s\0" + config_map + b"\x1a\x04gzip", 415),
        "other kind": (b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Secret", 400),
    }  # fmt: skip
    for name, (body, code) in said.items():
        raw = _post(body, b"application/vnd.kubernetes.protobuf")
        yield Case(f"protobuf {name}", raw, code, closes=False)


def _delete_options() -> Iterator[Case]:
    said: dict[str, tuple[bytes, int]] = {
        "list": (b"[]", 400),
        "half": (b"{", 400),
        "other kind": (b'{"kind":"ConfigMap"}', 400),
        "grace text": (b'{"gracePeriodSeconds":"1"}', 400),
        "grace yes": (b'{"gracePeriodSeconds":true}', 400),
        "dry run text": (b'{"dryRun":"All"}', 400),
        "dry run numbers": (b'{"dryRun":[1]}', 400),
        "dry run unknown": (b'{"dryRun":["Some"]}', 422),
        "policy unknown": (b'{"propagationPolicy":"Sideways"}', 422),
        "policy number": (b'{"propagationPolicy":1}', 400),
        "policy twice": (b'{"propagationPolicy":"Orphan","orphanDependents":true}', 422),
        "orphans text": (b'{"orphanDependents":"yes"}', 400),
        "preconditions list": (b'{"preconditions":[]}', 400),
        "uid number": (b'{"preconditions":{"uid":1}}', 400),
    }
    target = b"DELETE " + MAPS + b"/never HTTP/1.1\r\n" + HOST + AUTH + JSON
    for name, (body, code) in said.items():
        raw = target + b"Content-Length: %d\r\n\r\n" % len(body) + body
        yield Case(f"delete {name}", raw, code, closes=False)
    for query, code in {
        "gracePeriodSeconds=x": 400,
        "propagationPolicy=Sideways": 422,
        "dryRun=Some": 422,
        "propagationPolicy=Orphan&orphanDependents=true": 422,
    }.items():
        raw = f"DELETE {CONFIG_MAPS}/never?{query} HTTP/1.1\r\n".encode() + HOST + AUTH + b"\r\n"
        yield Case(f"delete query {query}", raw, code, closes=False)


def _patches() -> Iterator[Case]:
    bodies: dict[str, tuple[bytes, bytes, int]] = {
        "plain JSON": (b"application/json", b"{}", 415),
        "no type": (b"", b"{}", 415),
        "half": (b"application/merge-patch+json", b"{", 400),
        "not UTF-8": (b"application/merge-patch+json", b'{"a":"\xff"}', 400),
        "NaN": (b"application/merge-patch+json", b'{"a":NaN}', 400),
        "deep": (b"application/merge-patch+json", b'{"a":' * 50_000, 400),
    }
    start = b"PATCH /api/v1/namespaces/default HTTP/1.1\r\n" + HOST + AUTH
    for name, (kind, body, code) in bodies.items():
        head = b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
        yield Case(f"patch {name}", start + head + body, code, closes=False)


def _post(body: bytes, content_type: bytes = b"application/json") -> bytes:
    head = POST.replace(b"application/json", content_type)
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
