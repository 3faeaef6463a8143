"""Evaluates rules: which requests they allow, and which other rules they cover. There is no deny.

A request is allowed if one rule matches it in every field:

    verbs, apiGroups   the value itself, or *
    resources          pods, pods/status, */status (that subresource of every resource), or *
    resourceNames      empty, or the name; a request without a name matches no rule with names
    nonResourceURLs    the path itself, or a prefix followed by *

All values are compared exactly: "GET" does not match "get", nor does pods match pods/status.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from kubekit.api.kinds.rbac import PolicyRule
from kubekit.plane.access.attributes import Attributes

ANY: Final = "*"
MOST_ATOMS: Final = 10_000
MOST_COMPARISONS: Final = (
    1_000_000  # a third of a second, in which the plane serves no other request
)


class TooManyPermissions(ValueError):
    """Rules with too many combinations to compare them one by one."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule, compiled for evaluation."""

    rule: PolicyRule
    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    paths: frozenset[str]
    path_prefixes: tuple[str, ...]

    def allows(self, attributes: Attributes) -> bool:
        """Whether this rule alone allows the request."""
        if ANY not in self.verbs and attributes.verb not in self.verbs:
            return False
        if attributes.path:
            return self._matches_path(attributes.path)
        part = attributes.subresource
        whole = f"{attributes.resource}/{part}" if part else attributes.resource
        return (
            (ANY in self.groups or attributes.group in self.groups)
            and self._matches_resource(whole, part)
            and (not self.names or attributes.name in self.names)
        )

    def covers(self, atom: PolicyRule) -> bool:
        """Whether this rule covers a rule with one value in each field."""
        if ANY not in self.verbs and not self.verbs.issuperset(atom.verbs):
            return False
        if atom.non_resource_urls:
            return self._matches_path(atom.non_resource_urls[0])
        whole = atom.resources[0]
        return (
            (ANY in self.groups or self.groups.issuperset(atom.api_groups))
            and self._matches_resource(whole, whole.partition("/")[2])
            and (not self.names or _names_within(atom.resource_names, self.names))
        )

    def _matches_resource(self, whole: str, part: str) -> bool:
        resources = self.resources
        return ANY in resources or whole in resources or (part != "" and f"*/{part}" in resources)

    def _matches_path(self, path: str) -> bool:
        return path in self.paths or path.startswith(self.path_prefixes)


def compile_rules(rules: Iterable[PolicyRule]) -> tuple[CompiledRule, ...]:
    """The rules, compiled for repeated evaluation."""
    return tuple(
        CompiledRule(
            rule=rule,
            verbs=frozenset(rule.verbs),
            groups=frozenset(rule.api_groups),
            resources=frozenset(rule.resources),
            names=frozenset(rule.resource_names),
            paths=frozenset(rule.non_resource_urls),
            path_prefixes=tuple(p.rstrip(ANY) for p in rule.non_resource_urls if p.endswith(ANY)),
        )
        for rule in rules
    )


def allows(rules: Iterable[PolicyRule], attributes: Attributes) -> bool:
    """Whether one of the rules allows the request."""
    return any(rule.allows(attributes) for rule in compile_rules(rules))


def uncovered(held: Iterable[CompiledRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The single permissions in ``wanted`` that no rule of ``held`` covers; empty if all are covered."""
    rules = tuple(held)
    most = min(MOST_ATOMS, MOST_COMPARISONS // max(len(rules), 1))
    atoms = list(islice((atom for rule in wanted for atom in _atoms(rule)), most + 1))
    if len(atoms) > most:
        raise TooManyPermissions(f"the rules multiply out to more than {most} permissions")
    return [atom for atom in atoms if not any(rule.covers(atom) for rule in rules)]


def rule_lines(rules: Iterable[PolicyRule]) -> list[str]:
    """Rules with one value in each field as lines of an error: the verbs of one resource together."""
    lines: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    rule_texts = []
    for rule in rules:
        if rule.non_resource_urls:
            rule_texts.append(_rule_line(rule, rule.verbs))
        else:
            key = (rule.api_groups, rule.resources, rule.resource_names)
            lines.setdefault(key, []).extend(rule.verbs)
    for (groups, resources, names), verbs in lines.items():
        rule = PolicyRule(verbs=(), api_groups=groups, resources=resources, resource_names=names)
        rule_texts.append(_rule_line(rule, verbs))
    return sorted(set(rule_texts))


def _names_within(names: tuple[str, ...], all_names: frozenset[str]) -> bool:
    """An empty list means every name, which no list of names covers."""
    return bool(names) and all_names.issuperset(names)


def _atoms(rule: PolicyRule) -> Iterator[PolicyRule]:
    names: Iterable[tuple[str, ...]] = [(name,) for name in rule.resource_names] or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield PolicyRule(
            verbs=(verb,), api_groups=(group,), resources=(resource,), resource_names=name
        )
    for path, verb in product(rule.non_resource_urls, rule.verbs):
        yield PolicyRule(verbs=(verb,), non_resource_urls=(path,))


def _rule_line(rule: PolicyRule, verbs: Iterable[str]) -> str:
    parts = {
        "APIGroups": rule.api_groups,
        "Resources": rule.resources,
        "NonResourceURLs": rule.non_resource_urls,
        "ResourceNames": rule.resource_names,
        "Verbs": verbs,
    }
    return f"{{{', '.join(f'{name}:{go_list(words)}' for name, words in parts.items() if words)}}}"


def go_list(words: Iterable[str]) -> str:
    """Texts as Go prints a list of them: ``["a" "b"]``."""
    return f"[{' '.join(map(quoted, words))}]"


def quoted(word: str) -> str:
    """A text in quotes, with control characters escaped."""
    escaped = word.translate(_ESCAPES)
    return f'"{escaped}"'


_ESCAPES: Final = {
    **{code: f"\\x{code:02x}" for code in (*range(32), 127)},
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}
