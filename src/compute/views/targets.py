"""The target of commands, and what each rule that could choose it would give."""

from compute.views.view import View


class RuleView(View, frozen=True, kw_only=True):
    """One rule. Without a server it does not apply, or the problem says why it cannot."""

    rule: str
    in_effect: bool = False
    server: str = ""
    project: str = ""
    context: str = ""
    source: str = ""
    problem: str = ""


class TargetView(View, frozen=True, kw_only=True):
    """Where commands go, and why."""

    server: str = ""
    project: str = ""
    project_from: str = ""
    namespace: str = ""
    namespace_from: str = ""
    context: str = ""
    file: str = ""
    rule: str = ""
    settings_file: str
    rules: tuple[RuleView, ...]
