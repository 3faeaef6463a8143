"""The measurements over HTTPS. Each one runs against each server in turn, round by round."""

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

Results = dict[str, list[float]]
Measure = Callable[[Server, str], float]
"""Measures a server once; the string is a unique name of the turn."""


class Plan(msgspec.Struct, frozen=True):
    """The servers and the size of the measurements."""

    servers: Sequence[Server]
    clients: Sequence[int]
    watchers: Sequence[int]
    rounds: int
    seconds: float
    processes: int

    def blank(self) -> Results:
        """An empty list of results for each server."""
        return {server.name: [] for server in self.servers}


def prepare(plan: Plan, listed: int) -> None:
    """Create the objects that the measurements use."""
    for server in plan.servers:
        for namespace, names in ((server.namespace, SEEDED), (_listing(server), listed)):
            server.prepare(namespace)
            seed(server.target, namespace, names)
        server.prepare(_watched(server))


def seed(target: Target, namespace: str, names: int) -> None:
    run(Task(script="seed", target=target, namespace=namespace, clients=SEEDERS, names=names))


def clear(server: Server) -> None:
    """Remove our objects from a server that keeps running."""
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
    """How many full lists many clients get per second, one each."""

    def one(server: Server, turn: str) -> float:
        outcome = run(_list_task(script, server, clients, turn), plan.processes)
        return len(outcome.took) / outcome.seconds

    return Row(
        name=f"{script} of {listed:,}", clients=clients, unit="1/s", better="higher",
        rounds=_rounds(plan, script, one), hold=HOLDS[script],
    )  # fmt: skip


def watch(plan: Plan, watchers: int, clients: int, *, paced: bool) -> Row:
    """The delay from sending a write to its event at each of several watchers."""
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
        outcome, delivered = run_watched(task, Watching(server.target, namespace, watchers, since))
        busy[server.name].append(1e6 * (server.busy() - before) / len(delivered.delays))
        middle[server.name].append(percentile(delivered.delays, 0.5))
        writes[server.name].append(len(outcome.took) / outcome.seconds)
        cut_off[server.name].append(delivered.cut_off)
        return percentile(delivered.delays, 0.99)

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


def _rounds(plan: Plan, name: str, measure: Measure) -> Results:
    """The results of each server. They take turns, and the order alternates."""
    results = plan.blank()
    for turn in range(plan.rounds):
        for server in plan.servers if turn % 2 == 0 else reversed(plan.servers):
            results[server.name].append(measure(server, f"{name}-{turn}"))
    return results


def _list_task(script: str, server: Server, clients: int, turn: str, turns: int = 1) -> Task:
    return Task(
        script=script,
        target=server.target,
        namespace=_listing(server),
        clients=clients,
        turns=turns,
        prefix=turn,
    )


def _pair(results: Results) -> str:
    """The medians of ours and of the peer, side by side."""
    return " / ".join(f"{median(values):.3g}" for values in results.values())


def _sums(results: Results) -> str:
    return " / ".join(f"{sum(values):g}" for values in results.values())


def _listing(server: Server) -> str:
    return f"{server.namespace}-list"


def _watched(server: Server) -> str:
    return f"{server.namespace}-watch"
