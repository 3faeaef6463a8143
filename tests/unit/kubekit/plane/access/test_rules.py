"""What rules allow, held against Kubernetes' words for it and against a slow reading of them."""

from itertools import product

import pytest
from hypothesis import given, strategies as st

from kubekit.api.kinds.rbac import PolicyRule
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.rules import (
    MOST_ATOMS,
    TooManyPermissions,
    allows,
    compile_rules,
    rule_lines,
    uncovered,
)
from tests.support.kubekit.access_builders import policy

PODS = policy("get list", "pods")
NAMED = policy("get list watch delete", "pods", resource_names=("a",))


def asked(verb, resource="", **more):
    resource, _, part = resource.partition("/")
    return Attributes(verb=verb, resource=resource, subresource=part, **more)


@pytest.mark.parametrize(
    ("rule", "request_", "allowed"),
    [
        pytest.param(PODS, asked("get", "pods"), True, id="the word itself"),
        pytest.param(PODS, asked("delete", "pods"), False, id="another verb"),
        pytest.param(PODS, asked("GET", "pods"), False, id="verbs are spelled exactly"),
        pytest.param(PODS, asked("*", "pods"), False, id="asking for all is not asking for some"),
        pytest.param(PODS, asked("get", "pods", group="apps"), False, id="another group"),
        pytest.param(PODS, asked("get", "pods", namespace="x"), True, id="a place is no matter"),
        pytest.param(PODS, asked("get", "pods/log"), False, id="a part is not the whole"),
        pytest.param(policy("*", "pods"), asked("fly", "pods"), True, id="every verb"),
        pytest.param(policy("*", "pods"), asked("*", "pods"), True, id="all of every verb"),
        pytest.param(policy("get", "*"), asked("get", "pods/log"), True, id="every resource"),
        pytest.param(policy("get", "*"), asked("get", ""), True, id="even a nameless one"),
        pytest.param(policy("get", "pods/log"), asked("get", "pods/log"), True, id="the part"),
        pytest.param(policy("get", "pods/log"), asked("get", "pods"), False, id="part only"),
        pytest.param(policy("get", "*/log"), asked("get", "pods/log"), True, id="part of all"),
        pytest.param(policy("get", "*/log"), asked("get", "pods"), False, id="no part asked"),
        pytest.param(policy("get", "*/log"), asked("get", "pods/status"), False, id="other part"),
        pytest.param(policy("get", "pods/*"), asked("get", "pods/log"), False, id="no such star"),
        pytest.param(policy("get", "po*"), asked("get", "pods"), False, id="no star within"),
        pytest.param(
            policy("get", "pods", groups=("*",)), asked("get", "pods", group="x"), True, id="groups"
        ),
        pytest.param(NAMED, asked("get", "pods", name="a"), True, id="the name"),
        pytest.param(NAMED, asked("get", "pods", name="b"), False, id="another name"),
        pytest.param(NAMED, asked("list", "pods"), False, id="a list of all has no name"),
        pytest.param(NAMED, asked("list", "pods", name="a"), True, id="a list of one has"),
        pytest.param(PODS, asked("get", path="/api"), False, id="a path is no resource"),
        pytest.param(
            policy("get", "", non_resource_urls=("/api",)), asked("get", path="/api"), True, id="path"
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("/api",)),
            asked("get", path="/api/v1"),
            False,
            id="a path is not what is below it",
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("/api/*",)),
            asked("get", path="/api/v1"),
            True,
            id="what is below a path",
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("/api/*",)),
            asked("get", path="/api"),
            False,
            id="below is not the path",
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("*",)), asked("get", path="/x"), True, id="all paths"
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("/a*c",)), asked("get", path="/abc"), False, id="mid"
        ),
        pytest.param(
            policy("get", "", non_resource_urls=("*",)), asked("get", "pods"), False, id="no path"
        ),
    ],
)  # fmt: skip
def test_a5_what_a_rule_allows(rule, request_, allowed):
    """Rules are read letter by letter, with a star only where Kubernetes has one."""
    assert allows([rule], request_) is allowed


WORDS = ("get", "list", "*", "fly")
GROUPS = ("", "apps", "*", "new.io")
RESOURCES = ("pods", "pods/log", "*/log", "*", "nodes", "nodes/log", "pods/")
NAMES = ("a", "b")
PATHS = ("/a", "/a/*", "/a/b", "*", "/b**")


def few(words):
    return st.lists(st.sampled_from(words), max_size=2, unique=True).map(tuple)


resource_rules = st.builds(
    PolicyRule,
    verbs=few(WORDS),
    api_groups=few(GROUPS),
    resources=few(RESOURCES),
    resource_names=few(NAMES),
)
path_rules = st.builds(
    PolicyRule,
    verbs=few(WORDS),
    non_resource_urls=few(PATHS),
)
rule_lists = st.lists(resource_rules | path_rules, max_size=4)

# Words that no rule names stand for all the others that there are.
REQUESTS = tuple(
    Attributes(verb=verb, group=group, resource=resource, subresource=part, name=name)
    for verb, group, resource, part, name in product(
        ("get", "list", "fly", "other"),
        ("", "apps", "new.io", "other.io"),
        ("pods", "nodes", "others"),
        ("", "log", "other"),
        ("", "a", "b", "other"),
    )
) + tuple(
    Attributes(verb=verb, path=path)
    for verb, path in product(
        ("get", "list", "fly", "other"),
        ("/a", "/a/b", "/a/other", "/b", "/bother", "/other", "/a/"),
    )
)


def slowly(rule, request_):
    """The definition, word for word, without any cleverness."""
    verb_fits = any(verb in ("*", request_.verb) for verb in rule.verbs)
    if request_.path:
        return verb_fits and any(
            url == request_.path
            or (url[-1:] == "*" and request_.path[: len(url.rstrip("*"))] == url.rstrip("*"))
            for url in rule.non_resource_urls
        )
    wanted = (
        [request_.resource, request_.subresource] if request_.subresource else [request_.resource]
    )
    resource_fits = any(
        resource == "*"
        or resource == "/".join(wanted)
        or (len(wanted) == 2 and resource == "*/" + wanted[1])
        for resource in rule.resources
    )
    group_fits = any(group in ("*", request_.group) for group in rule.api_groups)
    name_fits = not rule.resource_names or request_.name in rule.resource_names
    return verb_fits and group_fits and resource_fits and name_fits


@given(rule_lists, st.sampled_from(REQUESTS))
def test_a5_nothing_is_allowed_that_no_rule_allows(rules, request_):
    """The answer is that of the definition, read slowly."""
    assert allows(rules, request_) == any(slowly(rule, request_) for rule in rules)


@given(rule_lists, resource_rules | path_rules, st.sampled_from(REQUESTS))
def test_a5_a_rule_more_takes_nothing_away(rules, more, request_):
    """Rights only ever add up."""
    assert allows([*rules, more], request_) >= allows(rules, request_)


@given(rule_lists, rule_lists)
def test_a5_covering_agrees_with_trying_every_request(owned, given_):
    """Rules are covered exactly if each request that they allow is allowed by the owner's."""
    # "pods/" is a word like any other, but no request can be for it.
    given_ = [rule for rule in given_ if "pods/" not in rule.resources]
    tried = all(allows(owned, one) for one in REQUESTS if allows(given_, one))

    assert (uncovered(compile_rules(owned), given_) == []) == tried


@given(rule_lists, rule_lists)
def test_a5_what_is_uncovered_is_what_is_missing(owned, given_):
    """With the missing rights the owner covers everything."""
    missing = uncovered(compile_rules(owned), given_)

    assert uncovered(compile_rules([*owned, *missing]), given_) == []


def test_a5_a_part_of_everything_covers_that_part_of_something():
    """``*/status`` holds ``pods/status``; a literal ``pods/`` is covered by no other rule."""
    owner = compile_rules([policy("get", "*/status pods")])

    assert uncovered(owner, [policy("get", "pods/status")]) == []
    assert uncovered(owner, [policy("get", "pods/")]) == [policy("get", "pods/")]


def test_a5_rules_that_multiply_out_to_too_much_are_not_compared():
    """A role of a few kilobytes could stand for millions of rights, and comparing takes time."""
    words = " ".join(f"w{number}" for number in range(200))

    with pytest.raises(TooManyPermissions, match=str(MOST_ATOMS)):
        uncovered((), [policy(words, words)])


def test_a5_the_more_rules_a_user_has_the_fewer_can_be_compared():
    """What counts is how many comparisons it takes."""
    words = " ".join(f"w{number}" for number in range(60))
    held = compile_rules([policy("get", "pods")] * 1_000)

    assert len(uncovered(held[:10], [policy(words, words)])) == 3_600
    with pytest.raises(TooManyPermissions):
        uncovered(held, [policy(words, words)])


def test_missing_permissions_are_grouped_by_resource():
    """The verbs on one resource stand together, in the order in which they were given."""
    missing = [
        policy("update", "pods"), policy("get", "pods"), policy("get", "pods", resource_names=("b",)),
        policy("get", "", non_resource_urls=('/a"\n',)), policy("get", "pods"),
    ]  # fmt: skip

    assert rule_lines(missing) == [
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["update" "get" "get"]}',
        r'{NonResourceURLs:["/a\"\n"], Verbs:["get"]}',
    ]
