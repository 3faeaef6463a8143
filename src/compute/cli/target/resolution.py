"""The rules that choose the target, in their order; the first that applies decides.

    1. flags: --server, --kubeconfig, --context, --data
    2. the environment of a plugin of datumctl
    3. COMPUTE_SERVER, with COMPUTE_TOKEN and COMPUTE_CA
    4. COMPUTE_DATA, the folder of a world
    5. the context that `compute config use-context` chose
    6. the kubeconfig, if it has a current context: KUBECONFIG, or that of kubectl
    7. the world of this machine

A plugin of kubectl is called with kubectl's context in mind. So there the kubeconfig goes before
everything that leads to a world: COMPUTE_DATA, and the chosen context if it is `local`.

The project and the namespace on that server have an order of their own, whatever the rule: flags, the
variables of datumctl, COMPUTE_PROJECT and COMPUTE_NAMESPACE, settings, and last what the context says.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from compute.app.data_folder import ENVIRONMENT, KUBECONFIG, default_data
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import is_kubectl_plugin
from compute.cli.target import kubeconfigs, servers, settings
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.settings import LOCAL
from compute.cli.target.wishes import Wishes
from kubekit.environment import ExecutionEnvironment

Chooser = Callable[[Wishes], Target | None]


def resolve(
    flags: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> Target:
    """The target of a command that was called with these flags."""
    wishes = wishes_of(flags, environment, variables)
    for _, choose in _rules(wishes):
        if target := choose(wishes):
            return _checked(target, wishes)
    raise Failure(
        "no server is chosen: there is no kubeconfig with a current context, and no platform on this "
        "machine",
        next_step="compute up --detach",
    )


def by_rule(wishes: Wishes) -> Iterator[tuple[TargetRule, Target | Failure | None]]:
    """What each rule gives by itself; None where it does not apply."""
    for rule, choose in _rules(wishes):
        try:
            yield rule, choose(wishes)
        except Failure as failure:
            yield rule, failure


def wishes_of(
    flags: Mapping[str, str], environment: ExecutionEnvironment, variables: Mapping[str, str]
) -> Wishes:
    """What a call with these flags asks for."""
    return Wishes(
        flags=flags,
        variables=variables,
        settings=settings.read(variables),
        environment=environment,
        kubectl=is_kubectl_plugin(),
    )


def _rules(wishes: Wishes) -> list[tuple[TargetRule, Chooser]]:
    rules = list(_RULES)
    if wishes.kubectl:
        local = {TargetRule.DATA}
        if wishes.settings.context == LOCAL:
            local.add(TargetRule.SETTINGS)
        after = [rule for rule in rules if rule[0] in local]
        rules = [rule for rule in rules if rule[0] not in local]
        position = [name for name, _ in rules].index(TargetRule.WORLD)
        rules[position:position] = after
    return rules


def _by_flags(wishes: Wishes) -> Target | None:
    rule = TargetRule.FLAGS
    if server := wishes.flag("server"):
        return servers.target_at(server, wishes, rule, "--server")
    if data := wishes.flag("data"):
        return kubeconfigs.world_target(Path(data), wishes, rule)
    named, context = wishes.flag("kubeconfig"), wishes.flag("context")
    if not named and not context:
        return None
    if context == LOCAL and not named:
        return _local(wishes, rule)
    return kubeconfigs.target_of(_files(wishes), wishes, rule)


def _by_plugin(wishes: Wishes) -> Target | None:
    return servers.plugin_target(wishes) if wishes.is_plugin else None


def _by_server(wishes: Wishes) -> Target | None:
    server = wishes.variable("COMPUTE_SERVER")
    if not server:
        return None
    return servers.target_at(server, wishes, TargetRule.SERVER, "COMPUTE_SERVER")


def _by_data(wishes: Wishes) -> Target | None:
    if not wishes.variable(ENVIRONMENT):
        return None
    data = default_data(wishes.variables)
    return kubeconfigs.world_target(data, wishes.without_context(), TargetRule.DATA)


def _by_settings(wishes: Wishes) -> Target | None:
    context = wishes.settings.context
    if not context:
        return None
    if context == LOCAL:
        return _local(wishes, TargetRule.SETTINGS)
    return kubeconfigs.target_of(_files(wishes), wishes, TargetRule.SETTINGS, context)


def _by_kubeconfig(wishes: Wishes) -> Target | None:
    paths = kubeconfigs.files("", wishes.variables)
    if not paths:
        return None
    try:
        return kubeconfigs.target_of(paths, wishes.without_context(), TargetRule.KUBECONFIG)
    except Failure:
        if kubeconfigs.has_current_context(paths):
            raise
        return None


def _by_world(wishes: Wishes) -> Target | None:
    data = default_data(wishes.variables)
    if not (data / KUBECONFIG).is_file():
        return None
    return kubeconfigs.world_target(data, wishes.without_context(), TargetRule.WORLD)


_RULES: Final[tuple[tuple[TargetRule, Chooser], ...]] = (
    (TargetRule.FLAGS, _by_flags),
    (TargetRule.PLUGIN, _by_plugin),
    (TargetRule.SERVER, _by_server),
    (TargetRule.DATA, _by_data),
    (TargetRule.SETTINGS, _by_settings),
    (TargetRule.KUBECONFIG, _by_kubeconfig),
    (TargetRule.WORLD, _by_world),
)


def _local(wishes: Wishes, rule: TargetRule) -> Target:
    """The world of this machine, by the name of `local`, which is no context of a file."""
    return kubeconfigs.world_target(default_data(wishes.variables), wishes.without_context(), rule)


def _files(wishes: Wishes) -> list[Path]:
    """The files that have the named context; those of the world of this machine if there are no others."""
    named = kubeconfigs.files(wishes.flag("kubeconfig"), wishes.variables)
    return named or [default_data(wishes.variables) / KUBECONFIG]


def _checked(target: Target, wishes: Wishes) -> Target:
    """Refuse a flag that would have no effect: a token must not be ignored silently."""
    for name in ("token", "certificate_authority"):
        if wishes.flag(name) and target.kubeconfig is not None:
            raise Failure(
                f"--{name.replace('_', '-')} needs --server: {target.kubeconfig} has its own",
                Exit.USAGE,
                next_step="compute config view",
            )
    return target
