"""The current objects of one resource, in the order of their keys.

Keys live in short sorted runs, so that an insertion moves a few hundred pointers instead of all
of them. Records are shared with every reader; only the store's publication calls `put` and
`remove`.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator

from kubekit.plane.store.records import Record

_RUN = 512


class Collection:
    """A live view: each call returns the state at that moment."""

    __slots__ = ("_keys", "_records")

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records = {record.key: record for record in records}
        self._keys = _SortedKeys(sorted(self._records))

    def __len__(self) -> int:
        return len(self._records)

    def find(self, key: str) -> Record | None:
        return self._records.get(key)

    def range(self, prefix: str = "", after: str = "", limit: int = 0) -> list[Record]:
        """The records whose key starts with ``prefix`` and is greater than ``after``, in order."""
        records: list[Record] = []
        record = self._records.__getitem__
        for run in self._keys.runs(prefix, after):
            records.extend(map(record, run))
            if limit and len(records) >= limit:
                return records[:limit]
        return records

    def count(self, prefix: str = "", after: str = "") -> int:
        return sum(map(len, self._keys.runs(prefix, after)))

    def put(self, record: Record) -> None:
        if record.key not in self._records:
            self._keys.add(record.key)
        self._records[record.key] = record

    def remove(self, key: str) -> None:
        del self._records[key]
        self._keys.remove(key)


class _SortedKeys:
    """Distinct keys in sorted runs. `_tops` holds the last key of each run."""

    __slots__ = ("_runs", "_tops")

    def __init__(self, ordered: list[str]) -> None:
        self._runs = [ordered[i : i + _RUN] for i in range(0, len(ordered), _RUN)]
        self._tops = [run[-1] for run in self._runs]

    def add(self, key: str) -> None:
        if not self._runs:
            self._runs.append([key])
            self._tops.append(key)
            return
        at = min(bisect_left(self._tops, key), len(self._runs) - 1)
        run = self._runs[at]
        insort(run, key)
        self._tops[at] = run[-1]
        if len(run) > 2 * _RUN:
            self._split(at)

    def _split(self, at: int) -> None:
        run = self._runs[at]
        self._runs[at : at + 1] = [run[:_RUN], run[_RUN:]]
        self._tops[at : at + 1] = [run[_RUN - 1], run[-1]]

    def remove(self, key: str) -> None:
        at = bisect_left(self._tops, key)
        run = self._runs[at]
        del run[bisect_left(run, key)]
        if run:
            self._tops[at] = run[-1]
        else:
            del self._runs[at], self._tops[at]

    def runs(self, prefix: str, after: str) -> Iterator[list[str]]:
        """The selected keys, run by run."""
        start = max(prefix, after)
        at = bisect_left(self._tops, start)
        skip = bisect_right if after >= prefix else bisect_left
        while at < len(self._runs):
            run = self._runs[at]
            first = skip(run, start) if run[0] <= start else 0
            end = len(run) if run[-1].startswith(prefix) else _end(run, prefix)
            if first or end < len(run):
                run = run[first:end]
            yield run
            if end < len(self._runs[at]):
                return
            at += 1


def _end(run: list[str], prefix: str) -> int:
    """The index after the last key with that prefix: such keys are adjacent."""
    return bisect_left(run, prefix[:-1] + chr(ord(prefix[-1]) + 1))
