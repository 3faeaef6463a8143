"""Scripts of requests, drawn from a seed: mostly sensible, some of them wrong in one way."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.differential import patching
from tests.differential.asks import Ask, Script, text
from tests.differential.choosing import filled, often, some, without_nulls
from tests.differential.contents import Document
from tests.differential.samples import SAMPLES, Sample
from tests.differential.wrongs import wrong_ask, wrong_document

LENGTH = 20
_MANAGERS = ("ann", "bob", "cyd")
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
_PARTIALS = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_FLAGS = ("true", "true", "false")
_UNAPPLIED = ("creationTimestamp", "ownerReferences")
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
Query = tuple[tuple[str, str], ...]


def script(seed: int, length: int = LENGTH) -> Script:
    """The script of a seed: about one kind or two, over few names."""
    return _Writer(Random(seed)).script(length)


class _Writer:
    """Writes one ask after the other, remembering which of them spoke of which object."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._asks: list[Ask] = []
        self._spoke: dict[str, int] = {}  # the last ask that was about an object, by its path
        # The last list of a collection without selectors: with one, servers differ in whether
        # they look for more before they say that there is more.
        self._lists: dict[str, int] = {}
        kinds = chance.sample(list(SAMPLES), 2)
        self._samples = [SAMPLES[kinds[0]]] * 4 + [SAMPLES[kinds[1]]]

    def script(self, length: int) -> Script:
        self._length = length
        self._create(self._samples[0])
        while len(self._asks) < length:
            sample = self._chance.choice(self._samples)
            act = self._chance.choices(list(self._ACTS), list(self._ACTS.values()))[0]
            act(self, sample)
        return tuple(self._asks)

    def _ask(
        self, method: str, path: str, query: Query = (), body: Any = None, **more: str
    ) -> None:
        written = body if isinstance(body, str) else "" if body is None else text(body)
        self._asks.append(Ask(len(self._asks), method, path, query, written, **more))

    def _item(self, sample: Sample) -> tuple[str, str]:
        name = sample.name(self._chance)
        return name, f"{sample.collection}/{name}"

    def _about(self, path: str) -> int:
        """The ask to refer to for an object; then this one is the one to refer to."""
        before = self._spoke.get(path, 0)
        self._spoke[path] = len(self._asks)
        return before

    def _writing(self) -> Query:
        return some(
            self._chance,
            (0.1, ("dryRun", "All")),
            (0.25, ("fieldManager", self._chance.choice(_MANAGERS))),
            (0.25, ("fieldValidation", self._chance.choice(("Strict", "Warn", "Ignore")))),
        )

    def _create(self, sample: Sample) -> None:
        name, path = self._item(sample)
        self._about(path)
        body = sample.document(self._chance, name)
        if often(self._chance, 0.1) and sample.resource.kind != "Namespace":
            del body["metadata"]["name"]
            body["metadata"]["generateName"] = f"gen-{len(self._asks)}-"
            if not sample.resource.namespaced:
                body["metadata"]["generateName"] = "{{ns}}-" + body["metadata"]["generateName"]
        self._ask("POST", sample.collection, self._writing(), body)

    def _create_wrongly(self, sample: Sample) -> None:
        name, _ = self._item(sample)
        body, query = wrong_document(self._chance, sample, name)
        self._ask("POST", sample.collection, query, body)

    def _get(self, sample: Sample) -> None:
        _, path = self._item(sample)
        self._about(path)
        accept = self._chance.choices(("application/json", _TABLE, _PARTIAL), (12, 1, 1))[0]
        self._ask("GET", path, accept=accept)

    def _update(self, sample: Sample) -> None:
        name, path = self._item(sample)
        about = self._about(path)
        body = sample.document(self._chance, name)
        self._bind(body["metadata"], about)
        self._mark(body)
        self._ask("PUT", path, self._writing(), body)

    def _mark(self, body: Document) -> None:
        """Make a write change something: a change of nothing may be written for its time."""
        notes = body["metadata"].get("annotations", {}) | {"example.test/ask": str(len(self._asks))}
        body["metadata"] = body["metadata"] | {"annotations": notes}

    def _update_wrongly(self, sample: Sample) -> None:
        name, path = self._item(sample)
        about = self._spoke.get(path, 0)
        body, query = wrong_document(self._chance, sample, name)
        if isinstance(body, dict) and isinstance(body["metadata"], dict):
            body["metadata"].setdefault("resourceVersion", f"{{{{rv:{about}}}}}")
        self._ask("PUT", path, query, body)

    def _bind(self, metadata: Document, about: int) -> None:
        """Bind a write to the version that was read, or to another, or to none."""
        version = self._chance.choices((None, f"{{{{rv:{about}}}}}", "1", "x"), (40, 50, 8, 2))[0]
        if version is not None:
            metadata["resourceVersion"] = version
        if often(self._chance, 0.1):
            metadata["uid"] = f"{{{{uid:{about}}}}}"

    def _patch(self, sample: Sample) -> None:
        _, path = self._item(sample)
        about = self._about(path)
        media, body = patching.patch(self._chance, sample, about)
        query = self._writing()
        if isinstance(body, str):  # without validation, a broken patch is reported differently
            query = tuple(each for each in query if each != ("fieldValidation", "Ignore"))
        if sample.fills_in and isinstance(body, list):
            notes = {"example.test/ask": str(len(self._asks))}
            body.append({"op": "add", "path": "/metadata/annotations", "value": notes})
        elif sample.fills_in and isinstance(body, dict):
            body.setdefault("metadata", {})
            self._mark(body)
        self._ask("PATCH", path, query, body, media=media)

    def _apply(self, sample: Sample) -> None:
        name, path = self._item(sample)
        self._about(path)
        body = filled(sample.document(self._chance, name))
        if sample.fills_in:
            self._mark(body)
        forced = 0.35
        if often(self._chance, 0.1):
            forced = 1.0
            body, _ = wrong_document(self._chance, sample, name)
            if isinstance(body, dict):
                body = {"metadata": {"name": name}} | filled(without_nulls(body))
            if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
                # Of applied metadata a real server keeps or misses what it otherwise would not.
                for field in _UNAPPLIED:
                    body["metadata"].pop(field, None)
        query: Query = some(
            self._chance,
            (1.0, ("fieldManager", self._chance.choice(_MANAGERS))),
            (forced, ("force", "true" if forced == 1 else self._chance.choice(_FLAGS))),
            (0.1, ("dryRun", "All")),
            (0.15, ("fieldValidation", self._chance.choice(("Strict", "Warn", "Ignore")))),
        )
        self._ask("PATCH", path, query, body, media=_APPLY)

    def _status(self, sample: Sample) -> None:
        if sample.status is None:
            self._patch(sample)
            return
        name, path = self._item(sample)
        about = self._about(path)
        status = {"status": sample.status(self._chance)}
        how = self._chance.choice(("PUT", "merge", "apply", "GET"))
        if how == "PUT" and len(self._asks) == self._length - 1:
            body = sample.head | {"metadata": {"name": name}} | sample.fields(self._chance) | status
            self._bind(body["metadata"], about)
            self._ask("PUT", f"{path}/status", self._writing(), body)
        elif how in ("merge", "PUT"):
            self._ask("PATCH", f"{path}/status", self._writing(), status, media=_MERGE)
        elif how == "apply":
            body = sample.head | {"metadata": {"name": name}} | status
            query: Query = (("fieldManager", self._chance.choice(_MANAGERS)),)
            query += some(self._chance, (0.3, ("force", "true")))
            self._ask("PATCH", f"{path}/status", query, body, media=_APPLY)
        else:
            self._ask("GET", f"{path}/status")

    def _scale(self, sample: Sample) -> None:
        if sample.resource.scale is None:
            self._list(sample)
            return
        name, path = self._item(sample)
        path += "/scale"
        about = self._about(path)
        replicas = self._chance.choice((3, 7, -1, 2000))  # a real server omits 0
        how = self._chance.choice(("GET", "GET", "PUT", "merge", "apply"))
        head = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}}
        if how == "PUT":
            body: Document = head | {"spec": {"replicas": replicas}}
            if 0 <= replicas <= 7:
                self._bind(body["metadata"], about)
            self._ask("PUT", path, self._writing(), body)
        elif how == "merge":
            body = {"spec": {"replicas": replicas}}
            self._ask("PATCH", path, self._writing(), body, media=_MERGE)
        elif how == "apply":
            body = head | {"spec": {"replicas": replicas}}
            query = (("fieldManager", "ann"), *some(self._chance, (0.5, ("force", "true"))))
            self._ask("PATCH", path, query, body, media=_APPLY)
        else:
            self._ask("GET", path)

    def _list(self, sample: Sample) -> None:
        query = self._selection(sample)
        if often(self._chance, 0.4):
            query += (("limit", self._chance.choice("112")),)
        query += self._versions()
        before = self._lists.get(sample.collection)
        if before is not None and often(self._chance, 0.25):
            query = (("limit", "1"), ("continue", f"{{{{continue:{before}}}}}"))
        accept = self._chance.choices(("application/json", _TABLE, _PARTIALS), (12, 1, 1))[0]
        if not any("elector" in key for key, _ in query):
            self._lists[sample.collection] = len(self._asks)
        self._ask("GET", sample.collection, query, accept=accept)

    def _versions(self) -> Query:
        if not often(self._chance, 0.2):
            return ()
        version = self._chance.choice(("0", f"{{{{rv:{len(self._asks) - 1}}}}}", ""))
        match = self._chance.choice(("", "Exact", "NotOlderThan", "NotOlderThan"))
        if version == "0":  # a cache may be behind, and then shows less
            return (("resourceVersion", "0"), ("resourceVersionMatch", "Exact"))
        query: Query = (("resourceVersion", version),)
        return query + ((("resourceVersionMatch", match),) if match else ())

    def _selection(self, sample: Sample) -> Query:
        labels = [value for _, value in sample.own()]
        if often(self._chance, 0.3):
            labels.append(self._chance.choice(("app=web", "tier!=back", "app in (web)", "!tier")))
        query: Query = (("labelSelector", ",".join(labels)),) if labels else ()
        if often(self._chance, 0.2):
            fields = ["metadata.name=a", "metadata.name!=b"]
            fields += ["metadata.namespace={{ns}}"] if sample.resource.namespaced else []
            fields += [f"{path}=red" for path in sample.selectable]
            query += (("fieldSelector", self._chance.choice(fields)),)
        return query

    def _watch(self, sample: Sample) -> None:
        """A watch of a second, from what is there or from a version that was seen."""
        query: Query = (("watch", self._chance.choice(("true", "1"))), ("timeoutSeconds", "1"))
        query += self._selection(sample)
        if often(self._chance, 0.7) and self._asks:
            number = self._chance.randrange(len(self._asks))
            query += (("resourceVersion", f"{{{{rv:{number}}}}}"),)
        elif often(self._chance, 0.4):
            query += (
                ("sendInitialEvents", "true"),
                ("allowWatchBookmarks", "true"),
                ("resourceVersionMatch", "NotOlderThan"),
            )
        accept = self._chance.choices(("application/json", _TABLE, _PARTIAL), (8, 1, 1))[0]
        self._ask("GET", sample.collection, query, accept=accept)

    def _delete(self, sample: Sample) -> None:
        _, path = self._item(sample)
        about = self._about(path)
        options: Document = dict(
            some(
                self._chance,
                (
                    0.3,
                    (
                        "propagationPolicy",
                        self._chance.choice(("Background", "Foreground", "Orphan")),
                    ),
                ),
                (0.1, ("gracePeriodSeconds", self._chance.choice((0, 5)))),
                (0.2, ("preconditions", self._conditions(about))),
            )
        )
        query = some(self._chance, (0.15, ("dryRun", "All")))
        if options and often(self._chance, 0.3):
            options.pop("preconditions", None)
            query += tuple((key, str(value)) for key, value in options.items())
            options = {}
        if options:
            options |= {"apiVersion": "v1", "kind": "DeleteOptions"}
        self._ask("DELETE", path, query, options or None)

    def _conditions(self, about: int) -> Document:
        right = self._chance.random() < 0.6
        return dict(
            some(
                self._chance,
                (
                    0.6,
                    (
                        "uid",
                        f"{{{{uid:{about}}}}}" if right else "00000000-0000-4000-8000-000000000001",
                    ),
                ),
                (0.5, ("resourceVersion", f"{{{{rv:{about}}}}}" if right else "1")),
            )
        )

    def _delete_collection(self, sample: Sample) -> None:
        query = self._selection(sample) + some(self._chance, (0.3, ("dryRun", "All")))
        if sample.resource.kind == "ServiceAccount":  # one of them comes back by itself
            query = (("labelSelector", "app=web"), *query[-1:])
        self._ask("DELETE", sample.collection, query)

    def _wrong(self, sample: Sample) -> None:
        name, _ = self._item(sample)
        method, path, query, more = wrong_ask(self._chance, sample, name)
        body = more.pop("body", None)
        self._ask(method, path, query, body, **more)

    _ACTS: dict[Callable[["_Writer", Sample], None], int] = {
        _create: 20,
        _create_wrongly: 8,
        _get: 8,
        _update: 12,
        _update_wrongly: 3,
        _patch: 20,
        _apply: 18,
        _status: 8,
        _scale: 5,
        _list: 12,
        _watch: 4,
        _delete: 9,
        _delete_collection: 2,
        _wrong: 14,
    }
