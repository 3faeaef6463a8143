"""What is measured over HTTPS. Every measure runs against each server in turn, round by round."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

import msgspec

from bench.load.connection import Target
from bench.load.processes import run, run_watched
from bench.load.report import HOLDS, Row, percentile
from bench.load.scripts import Task
from bench.load.servers import Server
from bench.load.watchers import Watching

SEEDED: Final = (
    1024  # objects that gets and updates go round; a multiple of every number of clients
)
LISTED: Final = 10_000
SEEDERS: Final = 32
PERIOD: Final = 0.01  # seconds between writes of the paced watch, over all clients

Figures = dict[str, list[float]]
Figure = Callable[[Server, str], float]
"""One figure of a server; the text is a name for the turn that no other turn has."""


class Plan(msgspec.Struct, frozen=True):
    """How much of it."""

    servers: Sequence[Server]
    clients: Sequence[int]
    watchers: Sequence[int]
    rounds: int
    seconds: float
    processes: int

    def blank(self) -> Figures:
        """A place for the figures of each server."""
        return {server.name: [] for server in self.servers}


def prepare(plan: Plan, listed: int) -> None:
    """Make the objects that the measures find."""
    for server in plan.servers:
        for namespace, names in ((server.namespace, SEEDED), (_listing(server), listed)):
            server.prepare(namespace)
            seed(server.target, namespace, names)
        server.prepare(_watched(server))


def seed(target: Target, namespace: str, names: int) -> None:
    run(Task(script="seed", target=target, namespace=namespace, clients=SEEDERS, names=names))


def clear(server: Server) -> None:
    """Leave a server that goes on as it was found."""
    for namespace in (server.namespace, _listing(server), _watched(server)):
        server.clear(namespace)


def rate(plan: Plan, script: str, clients: int) -> Row:
    """Operations in a second, flat out."""
    took = plan.blank()
    busy = plan.blank()

    def one(server: Server, turn: str) -> float:
        before = server.busy()
        outcome = run(
            Task(
                script=script,
                target=server.target,
                namespace=server.namespace,
                clients=clients,
                seconds=plan.seconds,
                prefix=turn,
                names=SEEDED,
            ),
            plan.processes,
        )
        busy[server.name].append(1e6 * (server.busy() - before) / len(outcome.took))
        took[server.name].append(percentile(outcome.took, 0.99))
        return len(outcome.took) / outcome.seconds

    rounds = _rounds(plan, f"{script}-{clients}", one)
    notes = f"p99 {_pair(took)} ms, server CPU {_pair(busy)} us"
    return Row(
        name=script, clients=clients, unit="1/s", better="higher", rounds=rounds,
        hold=HOLDS[script], notes=notes,
    )  # fmt: skip


def list_alone(plan: Plan, script: str, listed: int) -> Row:
    """How long the list of everything takes."""

    def one(server: Server, turn: str) -> float:
        return percentile(run(_list_task(script, server, 1, turn, turns=3)).took, 0.5)

    return Row(
        name=f"{script} of {listed:,}", clients=1, unit="ms", better="lower",
        rounds=_rounds(plan, script, one), hold=HOLDS[script],
    )  # fmt: skip


def list_crowd(plan: Plan, script: str, listed: int, clients: int) -> Row:
    """How many lists of everything a crowd gets in a second, each client one."""

    def one(server: Server, turn: str) -> float:
        outcome = run(_list_task(script, server, clients, turn), plan.processes)
        return len(outcome.took) / outcome.seconds

    return Row(
        name=f"{script} of {listed:,}", clients=clients, unit="1/s", better="higher",
        rounds=_rounds(plan, script, one), hold=HOLDS[script],
    )  # fmt: skip


def watch(plan: Plan, watchers: int, clients: int, *, paced: bool) -> Row:
    """How late each of several watchers hears of each write, from when the write was sent."""
    middle, writes, busy, cut_off = (plan.blank() for _ in range(4))

    def one(server: Server, turn: str) -> float:
        namespace = _watched(server)
        task = Task(
            script="create",
            target=server.target,
            namespace=namespace,
            clients=clients,
            seconds=plan.seconds,
            period=PERIOD * clients if paced else 0,
            prefix=turn,
        )
        since, before = server.revision(namespace), server.busy()
        outcome, heard = run_watched(task, Watching(server.target, namespace, watchers, since))
        busy[server.name].append(1e6 * (server.busy() - before) / len(heard.delays))
        middle[server.name].append(percentile(heard.delays, 0.5))
        writes[server.name].append(len(outcome.took) / outcome.seconds)
        cut_off[server.name].append(heard.cut_off)
        return percentile(heard.delays, 0.99)

    kind = "paced" if paced else "flat"
    rounds = _rounds(plan, f"{kind}-{watchers}-{clients}", one)
    notes = (
        f"p50 {_pair(middle)} ms, writes/s {_pair(writes)}, "
        f"server CPU {_pair(busy)} us a delivery, watchers cut off {_sums(cut_off)}"
    )
    name = f"watch p99, {watchers} watchers{', 100 writes/s' if paced else ''}"
    return Row(
        name=name, clients=clients, unit="ms", better="lower", rounds=rounds,
        hold=None if paced else HOLDS["watch"], notes=notes,
    )  # fmt: skip


def _rounds(plan: Plan, name: str, figure: Figure) -> Figures:
    """The figures of each server. They take turns, and who begins changes."""
    found = plan.blank()
    for turn in range(plan.rounds):
        for server in plan.servers if turn % 2 == 0 else reversed(plan.servers):
            found[server.name].append(figure(server, f"{name}-{turn}"))
    return found


def _list_task(script: str, server: Server, clients: int, turn: str, turns: int = 1) -> Task:
    return Task(
        script=script,
        target=server.target,
        namespace=_listing(server),
        clients=clients,
        turns=turns,
        prefix=turn,
    )


def _pair(found: Figures) -> str:
    """The medians of ours and of the peer, side by side."""
    return " / ".join(f"{median(values):.3g}" for values in found.values())


def _sums(found: Figures) -> str:
    return " / ".join(f"{sum(values):g}" for values in found.values())


def _listing(server: Server) -> str:
    return f"{server.namespace}-list"


def _watched(server: Server) -> str:
    return f"{server.namespace}-watch"
