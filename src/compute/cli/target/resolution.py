"""The rules that choose the target, in their order; the first that applies decides.

    1. flags: --server, --kubeconfig, --context, --data
    2. the environment of a plugin of datumctl
    3. COMPUTE_SERVER with COMPUTE_TOKEN; COMPUTE_DATA
    4. the context that `compute config use-context` chose
    5. the kubeconfig: KUBECONFIG, or that of kubectl
    6. the world that runs on this machine

--project and -n, COMPUTE_PROJECT and COMPUTE_NAMESPACE, and the settings choose the project and the
namespace on that server, whatever the rule.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from compute.app.data_folder import ENVIRONMENT, KUBECONFIG, default_data
from compute.cli.exits import Failure
from compute.cli.invocation import PLUGIN_VERSION
from compute.cli.target import kubeconfigs, settings
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.project_paths import project_of, with_project
from compute.cli.target.settings import LOCAL, UserSettings
from kubekit.client.connection import (
    Anonymous,
    Connection,
    ConnectionOrigin,
    Credentials,
    authority_problem,
)
from kubekit.client.credentials import BearerToken
from kubekit.environment import ExecutionEnvironment

_HOST: Final = "DATUM_API_HOST"


def resolve(
    flags: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> Target:
    """The target of a command that was called with these flags."""
    chosen = settings.read(variables)
    wanted = _with_defaults(flags, variables, chosen)
    if flags.get("server"):
        return _server(flags["server"], wanted, TargetRule.FLAGS, "--server")
    if flags.get("data"):
        return kubeconfigs.world_target(Path(flags["data"]), wanted, environment, TargetRule.FLAGS)
    named, context = flags.get("kubeconfig", ""), flags.get("context", "")
    if context == LOCAL and not named:
        return _world(wanted, environment, variables, TargetRule.FLAGS)
    if named or context:
        paths = kubeconfigs.files(named, variables) or [_world_file(variables)]
        return kubeconfigs.target_of(paths, wanted, environment, TargetRule.FLAGS)
    return _implied(wanted, environment, variables, chosen)


def _implied(
    wanted: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
    chosen: UserSettings,
) -> Target:
    """The target where no flag names a server."""
    if variables.get(PLUGIN_VERSION):
        return _plugin(wanted, variables)
    if variables.get("COMPUTE_SERVER"):
        return _server_of_variables(wanted, variables)
    if variables.get(ENVIRONMENT):
        return _world(wanted, environment, variables, TargetRule.VARIABLES)
    return _lasting(wanted, environment, variables, chosen)


def _lasting(
    wanted: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
    chosen: UserSettings,
) -> Target:
    """The target that neither flags nor variables name: a file has it, or a world runs here."""
    if chosen.context:
        return _saved(chosen.context, wanted, environment, variables)
    if paths := kubeconfigs.files("", variables):
        return kubeconfigs.target_of(paths, wanted, environment, TargetRule.KUBECONFIG)
    return _world(wanted, environment, variables, TargetRule.WORLD)


def _server_of_variables(wanted: Mapping[str, str], variables: Mapping[str, str]) -> Target:
    given = dict(wanted)
    given["token"] = wanted.get("token") or variables.get("COMPUTE_TOKEN", "")
    given["certificate_authority"] = wanted.get("certificate_authority") or variables.get(
        "COMPUTE_CA", ""
    )
    return _server(variables["COMPUTE_SERVER"], given, TargetRule.VARIABLES, "COMPUTE_SERVER")


def _saved(
    context: str,
    wanted: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
) -> Target:
    """The target of the context that the user has chosen for all commands."""
    if context == LOCAL:
        return _world(wanted, environment, variables, TargetRule.SETTINGS)
    paths = kubeconfigs.files("", variables) or [_world_file(variables)]
    given = dict(wanted) | {"context": context}
    return kubeconfigs.target_of(paths, given, environment, TargetRule.SETTINGS)


def _with_defaults(
    flags: Mapping[str, str], variables: Mapping[str, str], chosen: UserSettings
) -> dict[str, str]:
    """The flags, with the project and the namespace from variables and settings.

    A context of the user's own names a project already, so a saved project does not replace it.
    """
    project = flags.get("project") or variables.get("COMPUTE_PROJECT", "")
    if not project and not flags.get("context") and not variables.get(PLUGIN_VERSION):
        project = chosen.project
    namespace = flags.get("namespace") or variables.get("COMPUTE_NAMESPACE") or chosen.namespace
    return dict(flags) | {"project": project, "namespace": namespace or ""}


def _plugin(wanted: Mapping[str, str], variables: Mapping[str, str]) -> Target:
    host = variables.get(_HOST)
    if not host:
        raise Failure(f"{_HOST} is not set: run this command as a plugin of datumctl")
    project = wanted.get("project") or variables.get("DATUM_PROJECT", "")
    if not project:
        raise Failure(
            "no project is chosen: give --project NAME, or set one for datumctl",
            next_step="datumctl config set project NAME",
        )
    helper = variables.get("DATUM_CREDENTIALS_HELPER", "")
    credentials: Credentials = Anonymous()
    if wanted.get("token"):
        credentials = BearerToken(wanted["token"])
    elif helper:
        from compute.cli.target.datumctl import CredentialsHelper  # noqa: PLC0415 -- rarely needed

        credentials = CredentialsHelper(helper, variables.get("DATUM_SESSION", ""))
    connection = Connection(
        server=with_project(f"https://{host}", project),
        credentials=credentials,
        origin=ConnectionOrigin(PLUGIN_VERSION, ""),
    )
    return _on(connection, wanted, TargetRule.PLUGIN, _HOST)


def _server(url: str, wanted: Mapping[str, str], rule: TargetRule, detail: str) -> Target:
    """The target at an address that is given as it is."""
    if urlsplit(url).scheme not in {"http", "https"}:
        raise Failure(f"{detail}: {url!r} is no address: write it as https://HOST:PORT")
    server, project = url.rstrip("/"), wanted.get("project", "")
    if project and project_of(server) != project:
        server = with_project(server, project)
    token = wanted.get("token", "")
    connection = Connection(
        server=server,
        authority=_authority(wanted.get("certificate_authority", "")),
        credentials=BearerToken(token) if token else Anonymous(),
        origin=ConnectionOrigin(detail, ""),
    )
    return _on(connection, wanted, rule, detail)


def _on(connection: Connection, wanted: Mapping[str, str], rule: TargetRule, detail: str) -> Target:
    return Target(
        connection=connection,
        project=project_of(connection.server),
        namespace=wanted.get("namespace") or kubeconfigs.DEFAULT_NAMESPACE,
        rule=rule,
        detail=detail,
    )


def _authority(path: str) -> bytes | None:
    if not path:
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error
    if problem := authority_problem(content):
        raise Failure(f"{path}: {problem}")
    return content


def _world(
    wanted: Mapping[str, str],
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
    rule: TargetRule,
) -> Target:
    data = default_data(variables)
    without = {key: value for key, value in wanted.items() if key != "context"}
    if rule is TargetRule.WORLD and not (data / KUBECONFIG).is_file():
        raise Failure(
            "no server is chosen: there is no kubeconfig, and no platform runs on this machine",
            next_step="compute up --detach",
        )
    return kubeconfigs.world_target(data, without, environment, rule)


def _world_file(variables: Mapping[str, str]) -> Path:
    return default_data(variables) / KUBECONFIG
