"""Lists: which state of a collection is meant, and which page of it.

resourceVersion, match        what is answered
none, "0", NotOlderThan       the present; it is never older than anything that was given out
a version with a limit        that very version, unless NotOlderThan is said
Exact                         that very version
continue                      the version of the first page, or the present for a token that
                              was given out because that version is forgotten
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
        """The page that was asked for."""
        check_list(options)
        chosen = select(kind, namespace, "", options.label_selector, options.field_selector)
        asked = _question(self._context.identity, chosen)
        start = self._start(options, asked)
        limit = max(options.limit, 0)
        revision, records = await self._records(chosen, start, limit)
        found = await matching(chosen, records, limit)
        page = found[:limit] if limit else found
        shown = [view_of(kind, record) for record in page] if kind.conversion else page
        if len(page) == len(found):
            return Page(shown, revision)
        rest = ContinueToken(asked, revision, page[-1].key)
        remaining = None if chosen.filtered else self._remaining(chosen, rest, found)
        return Page(shown, revision, continue_tokens.write(rest), remaining)

    def _start(self, options: ListOptions, asked: str) -> ContinueToken:
        """Where the page begins, and in which state of the collection."""
        revision = resource_versions.parse(options.resource_version)
        if options.continue_:
            if revision:
                raise BadRequest("specifying resource version is not allowed when using continue")
            return continue_tokens.read(options.continue_, asked)
        if revision > self._context.store.revision:
            raise resource_versions.too_large(revision, self._context.store.revision)
        exact = options.resource_version_match == "Exact"
        by_limit = options.limit > 0 and not options.resource_version_match
        return ContinueToken(
            asked, revision if revision and (exact or by_limit) else continue_tokens.NOW, ""
        )

    async def _records(
        self, chosen: Selection, start: ContinueToken, limit: int
    ) -> tuple[int, list[Record]]:
        """The revision and the records at the places that are meant, from the start on.

        Of the present, no more than one after the limit are needed, unless some may not match.
        """
        store = self._context.store
        if start.revision in (continue_tokens.NOW, store.revision):
            enough = limit + 1 if limit and not chosen.filtered else 0
            return store.revision, self._present(chosen, start.after, enough)
        try:
            with history_errors():
                records = await store.collection_at(chosen.kind.storage, start.revision)
        except FutureRevision as error:
            raise resource_versions.too_large(start.revision, store.revision) from error
        except Compacted as error:
            if not start.after:
                raise resource_versions.too_old(start.revision, store.compacted) from error
            fresh = ContinueToken(start.question, continue_tokens.NOW, start.after)
            raise ExpiredToken(continue_tokens.write(fresh)) from error
        return start.revision, [r for r in records if r.key > start.after and chosen.covers(r.key)]

    def _remaining(self, chosen: Selection, rest: ContinueToken, found: list[Record]) -> int:
        """How many follow the page."""
        store = self._context.store
        if rest.revision == store.revision:
            return store.collection(chosen.kind.storage).count(chosen.prefix, rest.after)
        return sum(record.key > rest.after for record in found)

    def _present(self, chosen: Selection, after: str, limit: int) -> list[Record]:
        store = self._context.store
        if chosen.key is None:
            return store.collection(chosen.kind.storage).range(chosen.prefix, after, limit)
        record = store.find(chosen.kind.storage, chosen.key)
        return [record] if record is not None and record.key > after else []


def _question(plane: str, chosen: Selection) -> str:
    place = chosen.prefix if chosen.key is None else chosen.key
    said = (str(chosen.labels), str(chosen.fields))
    return continue_tokens.question(plane, chosen.kind.storage, place, *said)
