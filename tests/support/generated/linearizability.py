"""A judge of histories: whether these answers could have been given one at a time.

The search is that of Wing and Gong with the memory of Lowe: take operations one by one that no operation
finished before, follow what the object would be, go back where an answer does not fit, and never
look twice at the same operations done with the same object. Keys are judged one by one, since a
history is linearizable exactly if that of each key is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

Verb = Literal["get", "create", "update", "delete"]
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request and its answer.

    A value stands for one version of the object and is never written twice; None is no object.
    ``expected`` is the version that an update or a delete was made for. ``answer`` is what happened:
    ``done``, ``absent``, ``exists``, ``moved``, or ``unknown`` where no answer came. ``value`` is
    what was written or, for a get, what was found. An operation without an answer that had no effect
    needs no place in the order.
    """

    key: str
    verb: Verb
    answer: Literal["done", "absent", "exists", "moved", "unknown"]
    value: str | None = None
    expected: str | None = None
    start: float
    end: float


def violations(history: Iterable[Operation]) -> list[str]:
    """The keys whose answers fit no sequential order."""
    ordered = sorted(history, key=lambda op: (op.key, op.start))
    keys = groupby(ordered, key=lambda op: op.key)
    return [key for key, operations in keys if not _explained(list(operations))]


def _explained(operations: Sequence[Operation]) -> bool:
    """Whether some order of these operations, all on one key, gives these answers."""
    needed = sum(1 << i for i, op in enumerate(operations) if op.answer != "unknown")
    seen: set[tuple[int, str | None]] = {(0, None)}
    stack: list[tuple[int, str | None]] = [(0, None)]
    while stack:
        done, state = stack.pop()
        if done & needed == needed:
            return True
        for i in _next(operations, done):
            step = (done | 1 << i, _after(operations[i], state))
            if _fits(operations[i], state) and step not in seen:
                seen.add(step)
                stack.append(step)
    return False


def _next(operations: Sequence[Operation], done: int) -> list[int]:
    """Those that may come next: not done, and started before any other remaining one had ended."""
    left = [(i, op) for i, op in enumerate(operations) if not done >> i & 1]
    first_end = min((_end(op) for _, op in left), default=FOREVER)
    return [i for i, op in left if op.start <= first_end]


def _end(operation: Operation) -> float:
    return FOREVER if operation.answer == "unknown" else operation.end


def _fits(operation: Operation, state: str | None) -> bool:
    """Whether an object in this state could give that answer."""
    match operation.answer:
        case "absent":
            return state is None
        case "exists":
            return state is not None
        case "moved":
            return state not in (None, operation.expected)
        case "done" | "unknown":
            found = operation.value if operation.verb == "get" else operation.expected
            return state == found


def _after(operation: Operation, state: str | None) -> str | None:
    """The state of the object after the operation."""
    if operation.verb == "get" or operation.answer not in {"done", "unknown"}:
        return state
    return None if operation.verb == "delete" else operation.value
