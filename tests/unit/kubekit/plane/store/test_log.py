"""What the log on disk guarantees by itself."""

import pytest

from kubekit.plane.store.errors import WritesStopped
from kubekit.plane.store.log import Log
from kubekit.plane.store.records import ChangeType, LogRow
from kubekit.plane.store.settings import StoreSettings

FIRST = LogRow(1, "widgets", "a", 0, ChangeType.ADDED, 0, b"{}")


@pytest.fixture
def log(tmp_path):
    opened = Log.open(tmp_path / "plane.db", StoreSettings())
    yield opened
    opened.close()


@pytest.mark.parametrize("key", ["a", "b"], ids=["the same object", "another object"])
def test_a_number_is_never_used_twice(log, key):
    """A second row of one revision is an error, not silently ignored."""
    log.append([FIRST])
    with pytest.raises(WritesStopped, match="never reported") as stopped:
        log.append([FIRST._replace(key=key, document=b"other")])
    assert stopped.value.final
    assert log.stopped is not None


@pytest.mark.parametrize("number", [2, 100], ids=["one statement", "a transaction"])
def test_of_two_successors_one_is_refused(log, number):
    """Each row has one successor, whether it is the first of its object or a later one."""
    later = FIRST._replace(revision=2, previous=1)
    log.append([FIRST])
    rows = [FIRST._replace(revision=n + 3, key=str(n)) for n in range(number)]
    assert log.append([later, *rows]) == set()
    again = [later._replace(revision=200), rows[0]._replace(revision=201)]
    assert log.append(again) == {200, 201}
    assert log.revision == number + 2
