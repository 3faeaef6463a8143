"""The requests of our managers, from audit logs."""

import json
from pathlib import Path

from bench.load.federation.audit import AuditMark, Request
from bench.load.federation.managers import account


def entry(user: str, verb: str, resource: str, code: int = 200, **more) -> str:
    kind, _, subresource = resource.partition("/")
    target = {"resource": kind} | ({"subresource": subresource} if subresource else {})
    document = {
        "stage": "ResponseComplete",
        "user": {"username": user},
        "verb": verb,
        "objectRef": target,
        "responseStatus": {"code": code},
        "requestURI": "/",
    }
    return json.dumps(document | more) + "\n"


def test_requests_since_the_mark_are_counted(tmp_path: Path):
    """By plane, verb, kind and answer; leases and watches are left out, and what others ask."""
    ours = account("management")
    logs = {plane: tmp_path / plane for plane in ("project", "hub")}
    logs["project"].write_text(entry(ours, "get", "workloads"))
    logs["hub"].write_text("")
    mark = AuditMark(logs)
    with logs["project"].open("a") as log:
        log.write(entry(ours, "patch", "workloads/status") * 2)
        log.write(entry(ours, "watch", "workloads"))
        log.write(entry(ours, "get", "workloads", stage="ResponseStarted"))
        log.write(entry(account("stand-ins"), "get", "workloads"))
        log.write(entry(ours, "get", "workloads").rstrip("\n"))  # it is being written
    with logs["hub"].open("a") as log:
        log.write(entry(ours, "patch", "leases"))
        log.write(entry(ours, "get", "", 404, objectRef={}, requestURI="/readyz"))

    found = mark.requests("management")
    assert found == {
        Request("project", "patch", "workloads/status", 200): 2,
        Request("hub", "get", "/readyz", 404): 1,
    }
    assert [each.is_write for each in found] == [True, False]
