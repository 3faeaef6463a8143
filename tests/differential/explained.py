"""The differences that are meant, each with its reason.

An entry rewrites the two answers to a request so that what it explains is equal in both.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.differential.asks import Ask
from tests.differential.running import DecodedAnswer

Pair = tuple[DecodedAnswer, DecodedAnswer]


@dataclass(frozen=True, slots=True)
class Explained:
    """Answers that may differ, and why."""

    reason: str
    rewritten: Callable[[Ask, DecodedAnswer, DecodedAnswer], Pair]


def explained(
    ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer
) -> tuple[DecodedAnswer, DecodedAnswer, list[str]]:
    """Two answers without what is explained, and the reasons that were needed."""
    reasons = []
    for entry in EXPLAINED:
        again = entry.rewritten(ask, ours, theirs)
        if again != (ours, theirs):
            reasons.append(entry.reason)
            ours, theirs = again
    return ours, theirs, reasons


def _texts(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ours.status != theirs.status or ours.status not in (400, 405, 406, 415, 422):
        return ours, theirs
    ours, theirs = _without_words(ours), _without_words(theirs)
    return _naming_the_same(ours, theirs), theirs


def _without_words(answer: DecodedAnswer) -> DecodedAnswer:
    if not isinstance(answer.body, dict) or answer.body.get("status") != "Failure":
        return answer
    body = {key: value for key, value in answer.body.items() if key != "message"}
    details = body.pop("details", {})
    causes = {(cause.get("field"), cause["reason"]) for cause in details.get("causes", ())}
    if causes == {("patch", "FieldValueInvalid")} or answer.status == 405:
        details = {}  # only one of the two says of which object
    rest = details | ({"causes": sorted(causes, key=str)} if causes else {})
    return replace(answer, body=body | ({"details": rest} if rest else {}))


def _naming_the_same(ours: DecodedAnswer, theirs: DecodedAnswer) -> DecodedAnswer:
    """Our refusal as theirs, if it names at least one of the faults that theirs names."""
    named, known = _causes(ours), _causes(theirs)
    if not named or not set(named) <= set(known):
        return ours
    details = ours.body["details"] | {"causes": known}
    return replace(ours, body=ours.body | {"details": details})


def _causes(answer: DecodedAnswer) -> list[tuple[str, str]]:
    body = answer.body if isinstance(answer.body, dict) else {}
    causes: list[tuple[str, str]] = body.get("details", {}).get("causes", [])
    return causes


def _blame(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if theirs.status == 500 and 400 <= ours.status < 500:
        return theirs, theirs
    return ours, theirs


def _no_path(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    words = "the server could not find the requested resource"
    if ours.status == theirs.status == 404 and ours.body.get("message") == words:
        return theirs, theirs
    return ours, theirs


def _no_method(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    unnamed = theirs.status == 400 and "name must be provided" in str(theirs.body)
    if ours.status == 405 and (unnamed or ask.method in ("HEAD", "OPTIONS")):
        return theirs, theirs
    return ours, theirs


def _doubled_key(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    words = str(ours.body)
    if ours.status == 400 and ("2 times" in words or "is given twice" in words):
        return theirs, theirs
    return ours, theirs


def _null(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if 400 <= ours.status < 500 and (ask.body == "null" or ask.body.endswith("} trailing")):
        return theirs, theirs
    return ours, theirs


def _only_json(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ours.status == 406 and ask.accept == "application/yaml":
        return theirs, theirs
    return ours, theirs


def _late_warnings(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ours.status >= 400 and not ours.warnings:
        return ours, replace(theirs, warnings=())
    return ours, theirs


def _columns(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    return _undescribed(ours), _undescribed(theirs)


def _undescribed(answer: DecodedAnswer) -> DecodedAnswer:
    body = answer.body
    if isinstance(body, list):
        events = [event | {"object": _without_words_of_columns(event["object"])} for event in body]
        return replace(answer, body=events)
    return replace(answer, body=_without_words_of_columns(body))


def _without_words_of_columns(body: Any) -> Any:
    if not isinstance(body, dict) or body.get("kind") != "Table":
        return body
    columns = [
        {key: value for key, value in column.items() if key != "description"}
        for column in body["columnDefinitions"] or ()
    ]
    return body | {"columnDefinitions": columns}


def _stricter(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    stricter = {"metadata.finalizers[0]", "metadata.generateName"}
    causes = [] if ours.status != 422 else ours.body.get("details", {}).get("causes", [])
    if (theirs.status < 400 or theirs.status == 409) and stricter & {
        str(cause.get("field")) for cause in causes
    }:
        return theirs, theirs
    return ours, theirs


def _large(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    words = str(ours.body)
    if ours.status == 400 and ("does not fit in 64 bits" in words or "half a character" in words):
        return theirs, theirs
    return ours, theirs


def _emptied(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ours.status < 400 and theirs.status == 422 and ask.media == "application/apply-patch+yaml":
        causes = theirs.body["details"]["causes"]
        if all('Invalid value: "null"' in cause["message"] for cause in causes):
            return theirs, theirs
    return ours, theirs


def _strategic(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    ours_is = ours.status == 400 and ours.body["message"].startswith("strategic merge patch, ")
    return (theirs, theirs) if ours_is and theirs.status == 422 else (ours, theirs)


def _whole_status(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ask.method != "PUT" or not ask.path.endswith("/status"):
        return ours, theirs
    return _unmanaged(ours), _unmanaged(theirs)


def _unmanaged(answer: DecodedAnswer) -> DecodedAnswer:
    metadata = {k: v for k, v in answer.body["metadata"].items() if k != "managedFields"}
    return replace(answer, body=answer.body | {"metadata": metadata})


def _scale(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if ours.status == 415 and ask.path.endswith("/scale"):
        return theirs, theirs
    return ours, theirs


def _more(ask: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    if not {"limit"} <= dict(ask.query).keys() or not any("elector" in key for key, _ in ask.query):
        return ours, theirs
    return _without_more(ours), _without_more(theirs)


def _without_more(answer: DecodedAnswer) -> DecodedAnswer:
    if not isinstance(answer.body, dict) or "metadata" not in answer.body:
        return answer
    hidden = ("continue", "remainingItemCount")
    metadata = {k: v for k, v in answer.body["metadata"].items() if k not in hidden}
    return replace(answer, body=answer.body | {"metadata": metadata})


def _list_heads(_: Ask, ours: DecodedAnswer, theirs: DecodedAnswer) -> Pair:
    return _without_heads(ours), _without_heads(theirs)


def _without_heads(answer: DecodedAnswer) -> DecodedAnswer:
    body = answer.body
    if not isinstance(body, dict) or not isinstance(body.get("items", 0), list | None):
        return answer
    items = [
        {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
        for item in body["items"] or ()
    ]
    metadata = {key: value for key, value in body["metadata"].items() if value != ""}
    return replace(answer, body=body | {"items": items, "metadata": metadata})


EXPLAINED: tuple[Explained, ...] = (
    Explained("An error of the client is not reported as one of the server.", _blame),
    Explained("An unknown path is answered with the same Status for all kinds.", _no_path),
    Explained("An unsupported method is answered with the same Status for all kinds.", _no_method),
    Explained("A duplicate key is refused, because it is ambiguous.", _doubled_key),
    Explained("A body that is null, or goes on behind its document, is refused.", _null),
    Explained("Answers are JSON; a client converts them to YAML, as kubectl does.", _only_json),
    Explained("What was refused comes without warnings about it.", _late_warnings),
    Explained(
        "The finalizers and the prefix of a built-in object are judged alike when it is made and "
        "when it is changed; a real server forgets to for some kinds.",
        _stricter,
    ),
    Explained("A number or a character that cannot be stored is refused.", _large),
    Explained(
        "What an apply empties is empty, and not null, which a real server then refuses.", _emptied
    ),
    Explained("A strategic patch that does not fit its lists is a bad request.", _strategic),
    Explained(
        "An update of the status owns no metadata, because it cannot change it.",
        _whole_status,
    ),
    Explained("A Scale is written or patched, not applied.", _scale),
    Explained("Columns have descriptions of our own.", _columns),
    Explained(
        "With a selector and a limit, only a server that looks ahead knows whether there is more.",
        _more,
    ),
    Explained(
        "Why a body or a parameter is refused is said in our words, which name the field and the "
        "fix, and may stop at the first fault; code, reason and the fields at fault are theirs.",
        _texts,
    ),
    Explained(
        "Items of a list have their kind, and a list without more has no empty token.", _list_heads
    ),
)
