"""The verb list: which revision of a collection a request means, and which page of it.

resourceVersion, match        the result
none, "0", NotOlderThan       the newest revision; it is never older than any revision served before
a version with a limit        that exact version, unless the match is NotOlderThan
Exact                         that exact version
continue                      the version of the first page, or the newest for a token that was
                              issued because that version was compacted
"""

from kubekit.api.errors import BadRequest
from kubekit.client.options import ListOptions
from kubekit.plane.registry.context import RegistryContext, history_errors
from kubekit.plane.registry.encoding import view_of
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.rules.request_options import check_list
from kubekit.plane.registry.verbs import continue_tokens, resource_versions
from kubekit.plane.registry.verbs.continue_tokens import ContinueToken, ExpiredToken
from kubekit.plane.registry.verbs.results import Page
from kubekit.plane.registry.verbs.selection import Selection, matching, select
from kubekit.plane.store.records import Record
from kubekit.plane.store.store import Compacted, FutureRevision


class ListHandler:
    """The verb list of one plane."""

    def __init__(self, context: RegistryContext) -> None:
        self._context = context

    async def page(self, kind: Kind, namespace: str, options: ListOptions) -> Page:
        """The requested page."""
        check_list(options)
        selection = select(kind, namespace, "", options.label_selector, options.field_selector)
        query = _query(self._context.identity, selection)
        start = self._start(options, query)
        limit = max(options.limit, 0)
        revision, candidates = await self._records(selection, start, limit)
        records = await matching(selection, candidates, limit)
        page = records[:limit] if limit else records
        shown = [view_of(kind, record) for record in page] if kind.conversion else page
        if len(page) == len(records):
            return Page(shown, revision)
        rest = ContinueToken(query, revision, page[-1].key)
        remaining = None if selection.filtered else self._remaining(selection, rest, records)
        return Page(shown, revision, continue_tokens.write(rest), remaining)

    def _start(self, options: ListOptions, query: str) -> ContinueToken:
        """Where the page starts, and in which revision of the collection."""
        revision = resource_versions.parse(options.resource_version)
        if options.continue_:
            if revision:
                raise BadRequest("specifying resource version is not allowed when using continue")
            return continue_tokens.read(options.continue_, query)
        if revision > self._context.store.revision:
            raise resource_versions.too_large(revision, self._context.store.revision)
        exact = options.resource_version_match == "Exact"
        by_limit = options.limit > 0 and not options.resource_version_match
        return ContinueToken(
            query, revision if revision and (exact or by_limit) else continue_tokens.NOW, ""
        )

    async def _records(
        self, selection: Selection, start: ContinueToken, limit: int
    ) -> tuple[int, list[Record]]:
        """The revision, and the records from the start on whose keys are selected.

        At the newest revision one record more than the limit is enough, unless some may not match.
        """
        store = self._context.store
        if start.revision in (continue_tokens.NOW, store.revision):
            count = limit + 1 if limit and not selection.filtered else 0
            return store.revision, self._present(selection, start.after, count)
        try:
            with history_errors():
                records = await store.collection_at(selection.kind.storage, start.revision)
        except FutureRevision as error:
            raise resource_versions.too_large(start.revision, store.revision) from error
        except Compacted as error:
            if not start.after:
                raise resource_versions.too_old(start.revision, store.compacted) from error
            renewed = ContinueToken(start.question, continue_tokens.NOW, start.after)
            raise ExpiredToken(continue_tokens.write(renewed)) from error
        return start.revision, [
            r for r in records if r.key > start.after and selection.covers(r.key)
        ]

    def _remaining(self, selection: Selection, rest: ContinueToken, records: list[Record]) -> int:
        """The number of records after the page."""
        store = self._context.store
        if rest.revision == store.revision:
            return store.collection(selection.kind.storage).count(selection.prefix, rest.after)
        return sum(record.key > rest.after for record in records)

    def _present(self, selection: Selection, after: str, limit: int) -> list[Record]:
        store = self._context.store
        if selection.key is None:
            return store.collection(selection.kind.storage).range(selection.prefix, after, limit)
        record = store.find(selection.kind.storage, selection.key)
        return [record] if record is not None and record.key > after else []


def _query(plane: str, selection: Selection) -> str:
    scope = selection.prefix if selection.key is None else selection.key
    selectors = (str(selection.labels), str(selection.fields))
    return continue_tokens.query_digest(plane, selection.kind.storage, scope, *selectors)
