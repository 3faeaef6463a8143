"""What a user of a kubeconfig is let in with."""

import asyncio

import pytest

from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import load
from tests.support.kubekit.kubeconfig_builders import (
    SECRET,
    V1,
    V1BETA1,
    authority_pem,
    b64,
    client_pair,
    config,
    environment,
    pair_data,
    plugin,
    runs,
    server_pair,
    written,
)
from tests.support.kubekit.virtual_time import run


def loaded(folder, user, cluster=None, world=None, **variables):
    return load(world or environment(), [written(folder, config(cluster, user))], "", variables)


def authorization(folder, user, **more):
    return run(loaded(folder, user, **more).credentials.headers()).get("Authorization", "")


def refused(folder, user):
    with pytest.raises(Misconfigured) as error:
        loaded(folder, user)
    message = str(error.value)
    assert SECRET not in message
    prefix = f"{folder / 'config'}: users['u'].user."
    assert message.startswith(prefix)
    return message.removeprefix(prefix)


PLUGIN = {"command": "./plugin", "apiVersion": V1, "interactiveMode": "Never"}


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({}, ""),
        ({"token": "t"}, "Bearer t"),
        ({"token": None}, ""),
        ({"tokenFile": "file"}, "Bearer from-file"),
        ({"token": "t", "tokenFile": "file"}, "Bearer from-file"),
        ({"token": "t", "tokenFile": "missing"}, "Bearer t"),
        ({"token": "t", "tokenFile": "empty"}, "Bearer t"),
        ({"username": "a", "password": "b"}, "Basic YTpi"),
        ({"username": "a"}, "Basic YTo="),
        ({"token": "t", "exec": PLUGIN}, "Bearer t"),
        ({"tokenFile": "file", "exec": PLUGIN}, "Bearer from-file"),
        ({"username": "a", "password": "b", "exec": PLUGIN}, "Basic YTpi"),
    ],
)
def test_one_header_says_who_is_asking(tmp_path, user, header):
    """A token file takes precedence over a token, and a plugin runs only without other credentials."""
    written(tmp_path, "from-file\n", "file")
    written(tmp_path, "\n", "empty")
    assert authorization(tmp_path, user) == header


def test_a_certificate_may_be_given_as_data_or_in_files(tmp_path):
    """Data takes precedence over a file, for the certificate and for the key."""
    pair = client_pair()
    _write_pair(tmp_path, pair)
    data, files = pair_data(pair), {"client-certificate": "crt", "client-key": "key"}
    given = [
        data,
        files,
        {"client-certificate": "missing", "client-key": "missing"} | data,
        {"client-certificate": "crt", "client-key-data": data["client-key-data"]},
    ]
    assert {loaded(tmp_path, each).credentials.certificate() for each in given} == {pair}


def test_a_certificate_in_files_is_taken_up_when_it_is_replaced(tmp_path):
    """A long-lived process follows the files."""
    files = {"client-certificate": "crt", "client-key": "key"}
    _write_pair(tmp_path, client_pair())
    credentials = loaded(tmp_path, files).credentials
    assert credentials.certificate() == client_pair()
    _write_pair(tmp_path, server_pair())
    assert credentials.certificate() == server_pair()


def _write_pair(folder, pair):
    (folder / "crt").write_bytes(pair.certificate)
    (folder / "key").write_bytes(pair.key)


def test_a_certificate_and_a_token_go_together(tmp_path):
    """Both are shown to the server; a plugin is not run beside a certificate."""
    data = pair_data(client_pair())
    both = loaded(tmp_path, {"token": "t"} | data).credentials
    assert both.certificate() == client_pair()
    assert run(both.headers()) == {"Authorization": "Bearer t"}
    assert authorization(tmp_path, {"exec": PLUGIN} | data) == ""


def test_nothing_is_sent_to_a_server_without_tls(tmp_path, caplog):
    """As for kubectl, a secret is not sent without TLS; the log says so, without the secret."""
    cluster = {"server": "http://a.test"}
    users = [
        {"token": SECRET},
        {"tokenFile": "missing"},
        {"username": "a"},
        {"client-certificate": "missing"},
        {"exec": PLUGIN},
    ]
    assert {authorization(tmp_path, user, cluster=cluster) for user in users} == {""}
    assert [record.message for record in caplog.records] == [
        "credentials are not sent to a server without TLS"
    ] * len(users)
    assert SECRET not in str([vars(record) for record in caplog.records])
    assert authorization(tmp_path, {}, cluster=cluster) == ""
    assert len(caplog.records) == len(users)


def test_a_key_without_a_certificate_is_passed_over(tmp_path, caplog):
    """As for kubectl, with a word in the log."""
    assert authorization(tmp_path, {"client-key-data": b64(b"x"), "token": "t"}) == "Bearer t"
    assert [record.message for record in caplog.records] == [
        "a client key without a certificate is not used"
    ]


def test_a_user_may_act_for_another(tmp_path):
    """The name, the uid, the groups and the extras are sent with each request."""
    extra = {"reason": ["test", "more"]}
    user = {"as": "jo", "as-uid": "7", "as-groups": ["g"], "as-user-extra": extra}
    assert loaded(tmp_path, user).impersonation.headers() == [
        ("Impersonate-User", "jo"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g"),
        ("Impersonate-Extra-reason", "test"),
        ("Impersonate-Extra-reason", "more"),
    ]


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ({"token": SECRET, "username": "a"}, "token: cannot stand beside a user name"),
        ({"tokenFile": "x", "password": SECRET}, "tokenFile: cannot stand beside a user name"),
        ({"password": SECRET}, "username: missing beside the password"),
        ({"token": f"{SECRET}\n"}, "token: holds a line break or another control character"),
        ({"tokenFile": "missing"}, "tokenFile: "),
        ({"tokenFile": "empty"}, "tokenFile: "),
        ({"auth-provider": {"name": "gcp"}}, "auth-provider: not supported any more; use an exec"),
        ({"as-groups": ["g"]}, "as: missing beside as-uid, as-groups or as-user-extra"),
        ({"as": "a\nb"}, "as: one of the names holds characters that no header can carry"),
        ({"client-certificate-data": b64(b"x")}, "client-key-data: missing beside the client"),
        ({"client-certificate-data": "%"}, "client-certificate-data: not base64"),
        (
            {"client-certificate-data": b64(b"x"), "client-key-data": f"{SECRET}%"},
            "client-key-data: not base64",
        ),
        (
            {"client-certificate-data": b64(b"x"), "client-key-data": b64(SECRET.encode())},
            "client-certificate-data: not a certificate and its key in PEM; give the certificate",
        ),
        ({"client-certificate": "missing", "client-key": "missing"}, "client-certificate: "),
        ({"exec": {}}, "exec.command: missing; name the program to run"),
        ({"exec": PLUGIN | {"apiVersion": ""}}, f"exec.apiVersion: not one of {V1} and {V1BETA1}"),
        ({"exec": PLUGIN | {"apiVersion": f"{V1}alpha1"}}, "exec.apiVersion: not one of"),
        ({"exec": PLUGIN | {"interactiveMode": None}}, "exec.interactiveMode: not one of Never, "),
        ({"exec": PLUGIN | {"interactiveMode": "Foo"}}, "exec.interactiveMode: not one of Never, "),
        ({"exec": PLUGIN | {"env": [{"value": SECRET}]}}, "exec.env: a variable has no name"),
    ],
)
def test_a_user_that_contradicts_itself_is_an_error(tmp_path, user, problem):
    """The message names the field and the fix, and shows no secret."""
    written(tmp_path, " ", "empty")
    assert refused(tmp_path, user).startswith(problem)


def test_a_file_that_a_user_names_is_named_in_the_message(tmp_path):
    """The path is shown as it was followed."""
    message = refused(tmp_path, {"tokenFile": "missing"})
    assert message.startswith(f"tokenFile: {tmp_path / 'missing'}: No such file or directory")


@pytest.mark.parametrize("mode", ["Never", None])
def test_a_plugin_beside_the_file_is_run(tmp_path, mode):
    """A command with a slash is relative to the kubeconfig; the older version need not say a mode."""
    plugin(tmp_path, f'answer("{V1BETA1}", token=sys.argv[1] + os.environ["A"])', "plug")
    said = {
        "command": "./plug",
        "apiVersion": V1BETA1,
        "args": ["x"],
        "env": [{"name": "A", "value": "y"}],
        "interactiveMode": mode,
    }
    credentials = loaded(tmp_path, {"exec": said}).credentials
    assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer xy"}


def test_a_plugin_in_the_path_is_run(tmp_path):
    """A command without a slash is looked for, and not beside the kubeconfig."""
    (tmp_path / "bin").mkdir()
    plugin(tmp_path / "bin", 'answer(token="x")')
    said = {"exec": PLUGIN | {"command": "plugin"}}
    credentials = loaded(tmp_path, said, PATH=str(tmp_path / "bin")).credentials
    assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer x"}


def test_a_plugin_gets_the_server_if_it_asks_for_it(tmp_path):
    """It gets the authority from wherever it stands, and the extension that is meant for it."""
    plugin(tmp_path, 'answer(token=json.dumps(info["spec"].get("cluster")))')
    (tmp_path / "ca.pem").write_bytes(authority_pem())
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"a": None}}
    cluster = {
        "server": "https://a.test/p/",
        "certificate-authority": "ca.pem",
        "proxy-url": "http://proxy",
        "extensions": [{"name": "other", "extension": 1}, extension],
    }
    asks = loaded(tmp_path, {"exec": PLUGIN | {"provideClusterInfo": True}}, cluster).credentials
    silent = loaded(tmp_path, {"exec": PLUGIN}, cluster).credentials
    assert asyncio.run(silent.headers()) == {"Authorization": "Bearer null"}
    assert asyncio.run(asks.headers())["Authorization"] == (
        'Bearer {"server": "https://a.test/p/", '
        f'"certificate-authority-data": "{b64(authority_pem())}", "proxy-url": "http://proxy", '
        '"config": {"a": null}}'
    )


def test_two_connections_with_the_same_plugin_run_it_once(tmp_path):
    """A kubeconfig that is loaded twice asks the person behind the plugin once."""
    plugin(tmp_path, 'answer(token="x")')
    world = environment()
    one, two = (loaded(tmp_path, {"exec": PLUGIN}, world=world) for _ in range(2))

    async def story() -> None:
        await one.credentials.headers()
        await two.credentials.headers()

    asyncio.run(story())
    assert runs(tmp_path) == 1
