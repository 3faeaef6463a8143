"""Whether the target can be used: its server, credentials, version, clock and kinds."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from compute.decide.doctor.checks import Check, Finding, seconds
from compute.decide.doctor.facts import ProjectFacts, ServerFacts, Unread
from kubekit.api.errors import Timeout, Unauthorized, Unavailable

_VIEW: Final = "compute config view"
_NO_ANSWER: Final = (Unavailable, Timeout)
_OLDEST_MINOR: Final = 30  # of Kubernetes: older ones lack requests that this command makes
_MINOR: Final = re.compile(r"v?1\.(\d+)")
_SECOND: Final = timedelta(seconds=1)
# Tokens, leases and the ages that commands print depend on the clock.
_NOTABLE: Final = timedelta(seconds=5)
_WRONG: Final = timedelta(seconds=60)
_SET_CLOCK: Final = "timedatectl set-ntp true"


def connection_checks(server: ServerFacts, project: ProjectFacts | None) -> Iterator[Finding]:
    """The checks of a server that was chosen. ``project`` is None where nothing can be read."""
    yield server_check(server)
    if server_is_silent(server):
        for check in (Check.CREDENTIALS, Check.VERSION, Check.CLOCK, Check.KINDS):
            yield check.skipped("the server does not answer")
        return
    yield credentials_check(server)
    yield version_check(server)
    yield clock_check(server)
    if project is not None:
        yield kinds_check(project)


def server_is_silent(server: ServerFacts) -> bool:
    """Whether the server cannot be reached. A refusal is an answer."""
    return isinstance(server.error, _NO_ANSWER)


def server_check(server: ServerFacts) -> Finding:
    """Whether the server answers."""
    if server.error is not None and server_is_silent(server):
        detail = f"{server.address} does not answer: {_root(server.error.message)}"
        return Check.SERVER.failed(detail, server.start or _VIEW)
    known = f"as Kubernetes {server.version}" if server.version else "but not with its version"
    return Check.SERVER.passed(f"{server.address} answers, {known}")


def credentials_check(server: ServerFacts) -> Finding:
    """Whether the server accepts the credentials, and whose they are."""
    error = server.user_error
    if isinstance(error, Unauthorized):
        why = error.message.rpartition(": ")[2].rstrip(".")
        return Check.CREDENTIALS.failed(f"not accepted: {why}", _VIEW)
    if server.user == "system:anonymous":
        return Check.CREDENTIALS.failed("none: the server takes requests as anonymous", _VIEW)
    if error is not None or not server.user:
        return Check.CREDENTIALS.skipped("the server does not say whose credentials they are")
    return Check.CREDENTIALS.passed(f"accepted as {server.user}")


def version_check(server: ServerFacts) -> Finding:
    """Whether this command and the server fit together."""
    own, world = server.own_version, server.world_version
    if world and world != own:
        detail = f"the platform runs version {world}, this command is version {own}: start it again"
        return Check.VERSION.warning(detail, "compute down")
    if world:
        return Check.VERSION.passed(f"{own}, the same as the platform")
    minor = _MINOR.match(server.version)
    if minor is None:
        return Check.VERSION.skipped("the server does not name its version")
    if int(minor[1]) < _OLDEST_MINOR:
        detail = (
            f"Kubernetes {server.version} is older than 1.{_OLDEST_MINOR}: some commands may fail"
        )
        return Check.VERSION.warning(detail, "compute version")
    return Check.VERSION.passed(
        f"this command is {own}, for Kubernetes 1.{_OLDEST_MINOR} and newer"
    )


def clock_check(server: ServerFacts) -> Finding:
    """Whether this machine and the server agree on the time, as far as an answer shows it."""
    if server.time is None:
        return Check.CLOCK.skipped("the server does not give its time")
    ahead = server.asked_at - (server.time + _SECOND)  # its time is cut to whole seconds
    behind = server.time - server.answered_at
    skew, word = (ahead, "ahead of") if ahead > behind else (behind, "behind")
    if skew < _NOTABLE:
        return Check.CLOCK.passed("the clocks of this machine and the server agree")
    detail = f"the clock of this machine is {seconds(skew)} {word} that of the server"
    if skew < _WRONG:
        return Check.CLOCK.warning(f"{detail}: ages are wrong", _SET_CLOCK)
    return Check.CLOCK.failed(f"{detail}: ages are wrong, and tokens may be refused", _SET_CLOCK)


def kinds_check(project: ProjectFacts) -> Finding:
    """Whether the server serves compute, and the user may read all that commands need."""
    needed = project.workloads
    if isinstance(needed, Unread):
        return _without_workloads(project, needed)
    known: dict[str, object] = {
        "LocationBinding": project.bindings,
        "Network": project.networks,
        "AllowanceBucket": project.buckets,
        "ServiceEntitlement": project.entitlements,
        **project.others,
    }
    unread = {kind: each for kind, each in known.items() if isinstance(each, Unread)}
    parts = [
        f"{text}: {', '.join(kinds)}"
        for text, kinds in (
            ("not served", [k for k, each in unread.items() if each.is_absent]),
            ("no permission to read", [k for k, each in unread.items() if not each.is_absent]),
        )
        if kinds
    ]
    if parts:
        return Check.KINDS.warning(f"{'; '.join(parts)}; commands show less", _VIEW)
    return Check.KINDS.passed("compute, networks, quota and services are served, and can be read")


def _without_workloads(project: ProjectFacts, unread: Unread) -> Finding:
    if unread.is_absent and project.project:
        return Check.KINDS.skipped("nothing of the project can be read")
    if unread.is_absent:
        why = "the server does not serve compute, or a project has to be chosen with --project"
        return Check.KINDS.failed(why, _VIEW)
    if unread.is_forbidden:
        return Check.KINDS.failed(f"workloads cannot be read: {unread.error.message}", _VIEW)
    return Check.KINDS.skipped(unread.why)


def _root(message: str) -> str:
    """The cause at the end of an error of the client, without its question to the user."""
    return message.partition("; ")[0].rpartition(": ")[2].rstrip(".")
