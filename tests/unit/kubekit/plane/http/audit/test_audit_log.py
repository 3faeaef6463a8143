"""The audit log: one line for each request that matters, and no way in for what is secret."""

import asyncio
import json
import logging
import resource
import signal
import stat
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families

from kubekit.api.errors import Forbidden, Unavailable
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.http.audit.audit_lines import LONGEST, line
from kubekit.plane.http.audit.audit_log import Audit, AuditEntry, AuditFile, is_due
from kubekit.plane.http.interfaces import ServerOptions
from kubekit.plane.http.metrics import RequestMetrics
from kubekit.plane.users import User
from tests.support.kubekit.described_kinds import with_plane
from tests.support.kubekit.http_builders import (
    CONFIG_MAPS,
    QUICK,
    config_map,
    connected,
    request,
    serving,
    until,
)
from tests.support.kubekit.store_builders import in_loop

NOW = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
ALICE = User("alice", ("devs", "system:authenticated"), "u-1", {"scope": ("all",)})
SECRETS = "/api/v1/namespaces/default/secrets"
PLANTED = "planted-hunter2-c2VjcmV0"


def entry(**changes: object) -> AuditEntry:
    wanted = Attributes(
        verb="create", group="apps", version="v1", resource="sets", namespace="default", name="a"
    )
    plain = AuditEntry(
        id="8d1f7a8e-3a3b-4c1c-8abc-000000000001",
        at=NOW,
        seconds=0.0015,
        attributes=wanted,
        path="/apis/apps/v1/namespaces/default/sets",
        code=201,
        allowed=True,
        user=ALICE,
        how="token",
        source="127.0.0.1",
        agent="kubectl/v1.34",
    )
    return msgspec.structs.replace(plain, **changes)


@asynccontextmanager
async def auditing(path: Path, *, required: bool = False, **options: int):
    audit = Audit(AuditFile(path, **options), asyncio.get_running_loop(), required=required)
    try:
        yield audit
    finally:
        await audit.close()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text(encoding="ascii").splitlines()]


def test_a8_a_line_is_an_event_as_kubernetes_writes_it():
    """Who, how, from where, what, which object, the decision and the outcome, in the known form."""
    assert json.loads(line(entry())) == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "8d1f7a8e-3a3b-4c1c-8abc-000000000001",
        "stage": "ResponseComplete",
        "requestURI": "/apis/apps/v1/namespaces/default/sets",
        "verb": "create",
        "user": {"username": "alice", "uid": "u-1", "groups": ["devs", "system:authenticated"]},
        "responseStatus": {"code": 201},
        "stageTimestamp": "2026-03-01T12:00:00.250000Z",
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "kubectl/v1.34",
        "objectRef": {
            "resource": "sets",
            "namespace": "default",
            "name": "a",
            "apiGroup": "apps",
            "apiVersion": "v1",
        },
        "annotations": {
            "authorization.k8s.io/decision": "allow",
            "audit.compute.datumapis.com/authenticated-by": "token",
            "audit.compute.datumapis.com/plane": "/",
            "audit.compute.datumapis.com/seconds": "0.001500",
        },
    }


def test_a8_impersonation_names_both_users():
    """Both users are named: the authenticated one and the impersonated one."""
    got = json.loads(line(entry(user=User("bob", ("ops",)), original=ALICE)))

    assert got["user"]["username"] == "alice"
    assert got["impersonatedUser"] == {"username": "bob", "groups": ["ops"]}


def test_a8_a_refusal_below_a_prefix():
    """The decision and its reason are there, the plane is named, and a dry run is one."""
    got = json.loads(
        line(entry(allowed=False, reason="no rule", plane="/clusters/hub", dry_run=True, code=403))
    )

    assert got["requestURI"] == "/clusters/hub/apis/apps/v1/namespaces/default/sets"
    assert got["annotations"] | {"audit.compute.datumapis.com/seconds": ""} == {
        "authorization.k8s.io/decision": "forbid",
        "authorization.k8s.io/reason": "no rule",
        "audit.compute.datumapis.com/authenticated-by": "token",
        "audit.compute.datumapis.com/plane": "/clusters/hub",
        "audit.compute.datumapis.com/dry-run": "true",
        "audit.compute.datumapis.com/seconds": "",
    }


def test_a8_what_is_no_resource_has_no_object():
    """A refused page is named by its path."""
    got = json.loads(line(entry(attributes=Attributes(verb="get"), path="/metrics", code=401)))

    assert "objectRef" not in got
    assert got["requestURI"] == "/metrics"


@given(
    st.text(max_size=60),
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.text(max_size=20), max_size=5),
)
def test_a8_a_line_is_one_line_of_ascii(name, agent, groups):
    """Whatever the user is called: no control character, no other end of a line, nothing lost."""
    text = line(entry(user=User(name, tuple(groups)), agent=agent))
    got = json.loads(text)

    assert all(0x20 <= byte < 0x7F for byte in text)
    assert got["user"]["username"] == name
    assert got["user"].get("groups", []) == groups
    assert got.get("userAgent", "") == agent


@pytest.mark.parametrize("character", ["a", "\n", "\u2028", "\x7f", "\U0001f600", "\ud800"])
@pytest.mark.parametrize(
    "changes",
    [
        lambda long: {"user": User(long)},
        lambda long: {"path": "/" + long, "agent": long, "reason": long, "plane": "/" + long},
        lambda long: {"user": User("a", (long[:500],) * 50), "original": User("b", (long,))},
        lambda long: {"user": User("a", tuple(long)), "how": long, "source": long},
        lambda long: {"attributes": Attributes(verb=long, resource=long, name=long, group=long)},
    ],
    ids=["a name", "texts", "long groups", "many groups", "an object"],
)
def test_a8_a_line_is_never_long(character, changes):
    """What is too long is cut and says so; it is still an event that can be read."""
    text = line(entry(**changes(character * 20_000)))

    assert len(text) <= LONGEST
    assert text.isascii()
    assert json.loads(text)["kind"] == "Event"


@pytest.mark.parametrize(
    ("verb", "code", "impersonated", "due"),
    [
        ("create", 201, False, True),
        ("update", 409, False, True),
        ("patch", 200, False, True),
        ("delete", 404, False, True),
        ("deletecollection", 200, False, True),
        ("get", 200, False, False),
        ("list", 200, False, False),
        ("watch", 200, False, False),
        ("get", 401, False, True),
        ("list", 403, False, True),
        ("", 401, False, True),
        ("get", 200, True, True),
    ],
)
def test_a8_which_requests_are_recorded(verb, code, impersonated, due):
    """Whatever may change something, every refusal, and everything in another's name."""
    assert is_due(verb, code, impersonated=impersonated) is due


@in_loop
async def test_a8_ids_are_uuids_of_their_own(tmp_path):
    """Each request has an id that no other has."""
    async with auditing(tmp_path / "audit.log") as audit:
        ids = [audit.identify() for _ in range(1000)]

    assert len(set(ids)) == 1000
    assert {UUID(text).version for text in ids} == {4}
    assert {str(UUID(text)) for text in ids} == set(ids)


@in_loop
async def test_a8_entries_are_written_soon_in_their_order(tmp_path):
    """They are written within a moment without a flush, in a file for its owner alone."""
    path = tmp_path / "audit.log"
    async with auditing(path) as audit:
        for number in range(2500):
            audit.record(entry(id=str(number)))
        await until(lambda: audit.counts.written == 2500)
        assert [e["auditID"] for e in lines(path)] == [str(n) for n in range(2500)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@in_loop
async def test_a8_closing_writes_what_is_left(tmp_path):
    """The last entry before the end is kept as well."""
    path = tmp_path / "audit.log"
    async with auditing(path) as audit:
        audit.record(entry(id="last"))

    assert [e["auditID"] for e in lines(path)] == ["last"]


@in_loop
async def test_a8_generations(tmp_path):
    """At its size a file becomes an older one; the oldest goes; no line is torn or lost between."""
    path = tmp_path / "audit.log"
    async with auditing(path, size=5000, kept=2) as audit:
        for number in range(40):
            audit.record(entry(id=str(number)))
            await audit.flush()
    files = [tmp_path / "audit.log.2", tmp_path / "audit.log.1", path]
    ids = [int(e["auditID"]) for file in files for e in lines(file)]

    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert ids == list(range(ids[0], 40))
    assert all(file.stat().st_size <= 5000 for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@in_loop
async def test_a8_no_older_generation_may_be_kept(tmp_path):
    """Without older files, a full file is started anew."""
    path = tmp_path / "audit.log"
    async with auditing(path, size=2000, kept=0) as audit:
        for number in range(10):
            audit.record(entry(id=str(number)))
            await audit.flush()

    assert list(tmp_path.iterdir()) == [path]
    assert lines(path)[-1]["auditID"] == "9"


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "moved"])
@in_loop
async def test_a8_a_file_that_was_taken_away_is_made_anew(tmp_path, removed):
    """Log rotation may move the file without a signal."""
    path, old = tmp_path / "audit.log", tmp_path / "old"
    async with auditing(path) as audit:
        audit.record(entry(id="before"))
        await audit.flush()
        path.replace(old)
        if removed:
            old.unlink()
        audit.record(entry(id="after"))
    assert [e["auditID"] for e in lines(path)] == ["after"]
    assert removed or [e["auditID"] for e in lines(old)] == ["before"]


@in_loop
async def test_a8_a_file_that_others_could_read_is_closed_to_them(tmp_path):
    """It is for its owner alone from the start, even if another program created it."""
    path = tmp_path / "audit.log"
    path.touch(mode=0o644)
    async with auditing(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


class FullDisk(AuditFile):
    """A file on a disk that is full from time to time."""

    full = False

    def append(self, lines: bytes) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().append(lines)


@in_loop
async def test_a8_lost_entries_are_counted_and_logged_once(tmp_path, caplog):
    """A full disk stops no request: the loss is in the counts and, once, in the log."""
    caplog.set_level(logging.WARNING)
    file = FullDisk(tmp_path / "audit.log")
    audit = Audit(file, asyncio.get_running_loop())
    for full in (False, True, True, False):
        file.full = full
        for _ in range(3):
            audit.record(entry())
        audit.check()
        await audit.flush()
    await audit.close()

    assert (audit.counts.written, audit.counts.lost) == (6, 6)
    assert [record.getMessage() for record in caplog.records] == [
        "the audit log cannot be written: entries are lost",
        "the audit log is written again",
    ]
    assert len(lines(file.path)) == 6


@in_loop
async def test_a8_a_server_may_require_the_audit_log(tmp_path):
    """Where the log is required, changes are refused while it cannot be written, and then no more."""
    file = FullDisk(tmp_path / "audit.log")
    audit = Audit(file, asyncio.get_running_loop(), required=True)
    file.full = True
    audit.record(entry())
    await audit.flush()
    with pytest.raises(Unavailable, match="audit log cannot be written: No space left"):
        audit.check()
    file.full = False
    audit.record(entry())
    await audit.flush()
    audit.check()
    await audit.close()


def test_a8_half_a_batch_is_taken_back(tmp_path):
    """Where the disk fills up in the middle, no partial line is left: the next one starts a line."""
    file = AuditFile(tmp_path / "audit.log")
    file.append(b"first\n")
    with _files_up_to(10), pytest.raises(OSError, match="File too large"):
        file.append(b"second, which is too long\n")
    file.append(b"third\n")
    file.close()

    assert file.path.read_bytes() == b"first\nthird\n"


@contextmanager
def _files_up_to(size: int):
    """A limit to the size of files does as a full disk: some of a write succeeds."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a8_counts_are_among_the_metrics(tmp_path):
    """Written and lost entries are metrics, under Kubernetes' names."""

    async def scenario(plane):
        file = FullDisk(tmp_path / "audit.log")
        audit = Audit(file, asyncio.get_running_loop())
        audit.record(entry())
        await audit.flush()
        file.full = True
        audit.record(entry())
        await audit.close()
        return RequestMetrics(audit).text(plane.registry).decode()

    families = text_string_to_metric_families(with_plane(tmp_path / "data", scenario))
    got = {s.name: s.value for f in families for s in f.samples if "audit" in s.name}
    assert got == {"apiserver_audit_event_total": 1, "apiserver_audit_error_total": 1}


class NoLeases:
    """Everything is allowed except for leases."""

    def check(self, plane: object, user: User, attributes: Attributes) -> None:
        if attributes.resource == "leases":
            raise Forbidden("leases are not for you")


def _secret(name: str) -> bytes:
    return msgspec.json.encode({"metadata": {"name": name}, "stringData": {"password": PLANTED}})


SCRIPT = [
    (request("POST", SECRETS, _secret("a")), ("create", "secrets", 201)),
    (request("POST", SECRETS, _secret("a")), ("create", "secrets", 409)),
    (request("POST", SECRETS + "?dryRun=All", _secret("b")), ("create", "secrets", 201)),
    (request("PUT", f"{SECRETS}/a", _secret("a")), ("update", "secrets", 200)),
    (
        request("PATCH", f"{SECRETS}/a", _secret("a"), "application/merge-patch+json"),
        ("patch", "secrets", 200),
    ),
    (request("POST", CONFIG_MAPS, config_map("c", d=PLANTED)), ("create", "configmaps", 201)),
    (request("POST", CONFIG_MAPS, b"{" + PLANTED.encode()), ("create", "configmaps", 400)),
    (request("DELETE", f"{SECRETS}/a"), ("delete", "secrets", 200)),
    (request("DELETE", f"{SECRETS}/gone"), ("delete", "secrets", 404)),
    (request("DELETE", CONFIG_MAPS), ("deletecollection", "configmaps", 200)),
    (
        request("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases"),
        ("list", "leases", 403),
    ),
    (
        b"GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n\r\n"
        % PLANTED.encode(),
        ("get", None, 401),
    ),
    (request("GET", SECRETS), None),
    (request("GET", f"{CONFIG_MAPS}/none"), None),
]


@in_loop
async def test_a8_each_request_has_exactly_one_line_without_its_secrets(tmp_path):
    """Over the real server: what may change something or was refused, once; reads not; no value."""
    path = tmp_path / "audit.log"
    async with auditing(path) as audit:
        seams = ServerOptions(audit=audit, access=NoLeases(), limits=QUICK)
        async with serving(tmp_path / "data", seams) as server, connected(server.port) as peer:
            codes = [(await peer.ask(data)).code for data, _ in SCRIPT]
    entries = [
        (e["verb"], e.get("objectRef", {}).get("resource"), e["responseStatus"]["code"])
        for e in lines(path)
    ]

    assert entries == [expected for _, expected in SCRIPT if expected is not None]
    assert [c for c, (_, e) in zip(codes, SCRIPT, strict=True) if e] == [c for _, _, c in entries]
    assert len({e["auditID"] for e in lines(path)}) == len(entries)
    assert PLANTED not in path.read_text()


async def recorded(path: Path, *requests: bytes) -> list[dict[str, Any]]:
    """The lines of a real server about some requests, each on a connection of its own."""
    async with (
        auditing(path / "audit.log") as audit,
        serving(path / "data", ServerOptions(audit=audit, limits=QUICK)) as server,
    ):
        for data in requests:
            async with connected(server.port) as peer:
                await peer.ask(data)
    return lines(path / "audit.log")


DRY = b'{"dryRun":["All"]}'


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (request("POST", f"{CONFIG_MAPS}?dryRun=All", config_map("a")), "true"),
        (request("POST", f"{CONFIG_MAPS}?dry%52un=All", config_map("a")), "true"),
        (request("POST", f"{CONFIG_MAPS}?x=dryRun", config_map("a")), None),
        (request("POST", f"{CONFIG_MAPS}?dryRunner=All", config_map("a")), None),
        (request("PUT", f"{CONFIG_MAPS}/b?dryRun=All", config_map("b")), "true"),
        (
            request("PATCH", f"{CONFIG_MAPS}/b?dryRun=All", b"{}", "application/merge-patch+json"),
            "true",
        ),
        (request("DELETE", f"{CONFIG_MAPS}/b", DRY), "true"),
        (request("DELETE", f"{CONFIG_MAPS}/b?x=dryRun"), None),
        (request("DELETE", CONFIG_MAPS, DRY), "true"),
    ],
    ids=[
        "said", "escaped", "only mentioned", "another word", "update", "patch", "delete",
        "real delete", "all of them",
    ],
)  # fmt: skip
@in_loop
async def test_a8_a_dry_run_is_what_changed_nothing(tmp_path, asked, expected):
    """A parameter cannot hide a change, and the dry run may be in the query or in the body."""
    _, line_ = await recorded(tmp_path, request("POST", CONFIG_MAPS, config_map("b")), asked)

    assert line_["annotations"].get("audit.compute.datumapis.com/dry-run") == expected


@in_loop
async def test_a8_an_unauthenticated_large_request_is_recorded(tmp_path):
    """Its body is not read, and the attempt is recorded."""
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n"
    large, chunked = "Content-Length: 1000000", "Transfer-Encoding: chunked"
    tried = [f"{head}{framing}\r\n\r\n".encode() for framing in (large, chunked)]
    entries = await recorded(tmp_path, *tried)

    assert [(e["responseStatus"]["code"], e["requestURI"]) for e in entries] == [
        (401, CONFIG_MAPS)
    ] * 2


@in_loop
async def test_a8_an_unauthenticated_request_has_a_short_line(tmp_path):
    """Long texts are cut before they are queued: they cost neither time nor memory."""
    words = "a" * 7000
    data = f"GET /{words} HTTP/1.1\r\nHost: a\r\nUser-Agent: {words}\r\n\r\n".encode()
    (entry_,) = await recorded(tmp_path, data)

    assert entry_["requestURI"] == "/" + "a" * 1023 + "... (7001 characters)"
    assert entry_["userAgent"] == "a" * 256
