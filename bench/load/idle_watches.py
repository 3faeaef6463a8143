"""A process that holds watches open and hears nothing.

python -m bench.load.idle_watches URL TOKEN CA NAMESPACE WATCHERS SECONDS
"""

import resource
import select
import sys

from bench.load import objects
from bench.load.connection import Connection, Requests, Target, trusting


def main(url: str, token: str, ca: str, namespace: str, *numbers: str) -> None:
    """Say `ready` once every watch is open, then wait."""
    watchers, seconds = int(numbers[0]), float(numbers[1])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    target = Target(url, token, ca)
    context = trusting(target)
    request = Requests(target).bare("GET", objects.collection(namespace) + "?watch=true")
    held = []
    for _ in range(watchers):
        connection = Connection(target, context)
        connection.send(request)
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        while not connection.read():
            poll.poll()
        held.append(connection)
    print("ready", flush=True)
    select.select((), (), (), seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
