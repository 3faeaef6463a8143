"""The scripts themselves: repeatable, and about everything they should be about."""

import re
from collections import Counter

from tests.differential.asks import Ask, sent
from tests.differential.explained import EXPLAINED
from tests.differential.generator import LENGTH, script
from tests.differential.samples import SAMPLES

SCRIPTS = [script(seed) for seed in range(300)]
ASKS = [ask for asks in SCRIPTS for ask in asks]


def test_a_seed_stands_for_one_script():
    """What failed can be run again."""
    assert [script(seed) for seed in range(20)] == SCRIPTS[:20]


def test_every_script_has_its_length():
    """A run of so many scripts is a run of so many requests."""
    assert {len(asks) for asks in SCRIPTS} == {LENGTH}


def test_asks_refer_to_earlier_ones_of_their_script():
    """What only a later answer knows cannot be asked for."""
    for ask in ASKS:
        whole = f"{ask.path} {ask.query} {ask.body}"
        assert all(int(number) <= ask.number for number in re.findall(r":(\d+)\}\}", whole))


def test_every_kind_is_asked_about():
    """Each of the samples has its share."""
    asked = Counter(
        plural for ask in ASKS for plural in SAMPLES if f"/{plural}" in ask.path.partition("?")[0]
    )
    assert min(asked[plural] for plural in SAMPLES) >= 100


def test_every_way_of_asking_is_used():
    """All verbs, all patches, watches, pages, options, forms."""
    used = Counter(word for ask in ASKS for word in _words(ask))
    wanted = {
        *("GET", "POST", "PUT", "PATCH", "DELETE", "watch", "limit", "continue", "labelSelector"),
        *("fieldSelector", "resourceVersion", "resourceVersionMatch", "sendInitialEvents"),
        *("dryRun", "fieldValidation", "fieldManager", "force", "propagationPolicy"),
        *("application/merge-patch+json", "application/json-patch+json", "text/plain"),
        *("application/strategic-merge-patch+json", "application/apply-patch+yaml"),
        *("generateName", "preconditions", "gracePeriodSeconds", "/status", "/scale", "as=Table"),
    }
    assert {word: used[word] for word in wanted if used[word] < 10} == {}


def _words(ask: Ask) -> set[str]:
    known = ("generateName", "preconditions", "gracePeriodSeconds", "propagationPolicy")
    return {
        ask.method,
        ask.media,
        *(key for key, _ in ask.query),
        *(word for word in known if f'"{word}"' in ask.body),
        *(part for part in ("/status", "/scale") if ask.path.endswith(part)),
        *(["as=Table"] if "as=Table" in ask.accept else []),
    }


def test_references_become_what_was_answered():
    """By the answer they name, or by something that stands for nothing."""
    ask = Ask(2, "PUT", "/x/{{name:0}}", (("resourceVersion", "{{rv:1}}"),), '"{{uid:0}} {{ns}}"')
    answers = {0: {"metadata": {"name": "a", "uid": "u"}}, 1: "no document"}
    request = sent(ask, "space", answers)
    assert (request.target, request.body) == ("/x/a?resourceVersion=", b'"u space"')


def test_the_list_of_explained_differences_is_short():
    """Each has a reason of its own, in a sentence."""
    reasons = [explained.reason for explained in EXPLAINED]
    assert len(set(reasons)) == len(reasons) <= 20
    assert all(reason.endswith(".") and len(reason) > 20 for reason in reasons)
