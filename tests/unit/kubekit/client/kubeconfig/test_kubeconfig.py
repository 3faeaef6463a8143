"""Which files are read, how they are merged, and which context is used."""

import os
import re

import pytest

from compute.app.kubeconfig import kubeconfig
from kubekit.client.connection import ConnectionOrigin, Misconfigured
from kubekit.client.kubeconfig import contexts, load, load_all
from kubekit.client.kubeconfig.config_files import read_file
from kubekit.plane.http.certificates.authority import ClientPair
from tests.support.kubekit.kubeconfig_builders import (
    SECRET,
    authority_pem,
    client_pair,
    config,
    environment,
    written,
)
from tests.support.kubekit.virtual_time import run


def loaded(*paths, context="", **variables):
    return load(environment(), paths, context, {"HOME": "/nowhere"} | variables)


def refused(*paths, context="", **variables):
    with pytest.raises(Misconfigured) as error:
        loaded(*paths, context=context, **variables)
    return str(error.value)


def test_a_connection_has_all_that_the_context_says(tmp_path):
    """Server, user, namespace and the rest come from the entries that the context names."""
    cluster = {"tls-server-name": "inside", "disable-compression": True}
    path = written(tmp_path, config(cluster, {"token": "t", "as": "jo"}, {"namespace": "ns"}))
    connection = loaded(path)
    assert connection.server == "https://plane.test:6443"
    assert (connection.server_name, connection.compression) == ("inside", False)
    assert (connection.namespace, connection.impersonation.user) == ("ns", "jo")
    assert run(connection.credentials.headers()) == {"Authorization": "Bearer t"}
    assert connection.origin == ConnectionOrigin(str(path), "x")


def test_no_secret_of_a_file_is_in_the_words_for_its_connection(tmp_path):
    """Control K2: a connection that was loaded can be printed."""
    path = written(tmp_path, config({"proxy-url": f"http://a:{SECRET}@p"}, {"token": SECRET}))
    assert SECRET not in repr(loaded(path))


def test_no_secret_is_in_the_words_for_what_a_file_says(tmp_path):
    """Control K2: neither a user nor the plugin of one is printed with what it holds."""
    said = {"command": "plugin", "args": [SECRET], "env": [{"name": "A", "value": SECRET}]}
    path = written(tmp_path, config(user={"token": SECRET, "exec": said}))
    user = read_file(path).users["u"].value
    assert user.exec is not None
    words = [repr(each) for each in (user, user.exec, user.exec.env[0], read_file(path).users)]
    assert words[:3] == ["User()", "Exec('plugin')", "Variable('A')"]
    assert SECRET not in words[3]


@pytest.mark.parametrize(
    "credential", ["a-token", ClientPair(client_pair().certificate, client_pair().key)]
)
def test_the_file_that_a_plane_writes_for_kubectl_is_read(tmp_path, credential):
    """What our own server tells its clients is enough for this one."""
    text = kubeconfig("https://0.0.0.0:6443", authority_pem(), credential).decode()
    connection = loaded(written(tmp_path, text))
    assert (connection.server, connection.namespace) == ("https://127.0.0.1:6443", "default")
    assert connection.authority == authority_pem()
    shown = run(connection.credentials.headers()) or connection.credentials.certificate()
    assert shown in ({"Authorization": "Bearer a-token"}, client_pair())


FIRST = """
clusters:
- {name: c, cluster: {server: "https://one", tls-server-name: n}}
users:
- {name: u, user: {token: t1}}
contexts:
- {name: x, context: {cluster: c, user: u}}
"""
SECOND = """
clusters:
- {name: c, cluster: {server: "https://two", disable-compression: true}}
- {name: d, cluster: {server: "https://three"}}
users:
- {name: u, user: {token: t2, as: jo}}
contexts:
- {name: x, context: {cluster: d, user: u, namespace: second}}
current-context: x
"""
THIRD = """
contexts:
- {name: z, context: {cluster: d, user: u, namespace: third}}
current-context: z
"""


@pytest.mark.parametrize(
    ("order", "context", "expected"),
    [
        ("123", "", ("https://one", "", "Bearer t1")),
        ("321", "", ("https://three", "third", "Bearer t2")),
        ("213", "", ("https://three", "second", "Bearer t2")),
        ("132", "z", ("https://three", "third", "Bearer t1")),
        ("9123", "", ("https://one", "", "Bearer t1")),
        ("1123", "", ("https://one", "", "Bearer t1")),
    ],
)
def test_several_files_are_merged_entry_by_entry(tmp_path, order, context, expected):
    """The first file that has an entry counts, whole, and so does the first current-context."""
    for number, text in enumerate((FIRST, SECOND, THIRD), 1):
        written(tmp_path, text, str(number))
    listed = os.pathsep.join(str(tmp_path / name) for name in order)
    connection = loaded(context=context, KUBECONFIG=f":{listed}::")
    header = run(connection.credentials.headers())["Authorization"]
    assert (connection.server, connection.namespace, header) == expected
    assert connection.compression is True


def test_the_file_in_the_home_directory_is_read_without_another(tmp_path):
    """The default file needs no configuration."""
    written(tmp_path, config(), ".kube/config")
    assert loaded(HOME=str(tmp_path)).server == "https://plane.test:6443"
    assert contexts(variables={"HOME": str(tmp_path)}) == ["x"]


def test_files_are_found_beside_the_file_that_names_them(tmp_path):
    """A relative path is relative to the file with the entry, also through a link and a merge."""
    written(tmp_path, "a-token", "real/token")
    written(tmp_path, config(user={"tokenFile": "token"}), "elsewhere/config")
    (tmp_path / "real/link").symlink_to(tmp_path / "elsewhere/config")
    first = written(tmp_path, "{}", "first/config")
    connection = loaded(first, tmp_path / "real/link")
    assert run(connection.credentials.headers()) == {"Authorization": "Bearer a-token"}


def test_no_file_at_all_is_an_error_that_says_where_it_looked():
    """The message names the places and what to do."""
    assert refused() == (
        "no kubeconfig: /nowhere/.kube/config not found; set KUBECONFIG, or name a file"
    )
    assert "/a, /b not found" in refused(KUBECONFIG="/a:/b")


def test_a_file_that_is_named_must_be_there(tmp_path):
    """A missing file is passed over in a list, but not when it was asked for."""
    missing = tmp_path / "missing"
    assert refused(missing) == f"{missing}: cannot be read: No such file or directory"


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    """A folder, or a file below a file, is not passed over like a missing one."""
    good = written(tmp_path, config(), "good")
    for bad in (tmp_path, good / "below", "a\0b"):
        assert refused(KUBECONFIG=f"{bad}:{good}").split(": ")[1] == "cannot be read"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", ", line 2, column 1: did not find expected node content"),
        ("a: 1\na: 2", ", line 2, column 1: the key 'a' is given twice"),
        ("hello", ": the file: Expected `object`, got `str`"),
        ("clusters: {}", ": clusters: Expected `array`, got `object`"),
        ("clusters: [{name: c, cluster: {server: 5}}]", ": clusters[0].cluster.server: Expected"),
        ("kind: Pod", ": kind: not a kubeconfig"),
        ("apiVersion: v2", ": kind: not a kubeconfig"),
        ("users: [{name: u}, {name: u}]", ": users['u']: the name is given twice; remove one"),
        ("", ": contexts: there is none"),
        ("contexts: null", ": contexts: there is none"),
        ("# " + "x" * 3 * 2**20, ": larger than 3 MiB"),
    ],
)
def test_a_file_that_is_no_kubeconfig_is_an_error(tmp_path, text, problem):
    """The message names the file and the place in it."""
    path = written(tmp_path, text)
    assert refused(path).startswith(f"{path}{problem}")


def test_text_that_cannot_be_read_is_not_quoted(tmp_path):
    """Control K2: a secret beside a slip of the pen stays out of the message and its causes."""
    path = written(tmp_path, f"users:\n- user: {{token: {SECRET}\n")
    with pytest.raises(Misconfigured) as error:
        loaded(path)
    assert SECRET not in str(error.value)
    assert error.value.__suppress_context__


def test_only_the_first_document_of_a_file_counts(tmp_path):
    """As for kubectl; nulls say nothing, and what is not known is passed over."""
    text = (
        "---\nclusters: [{name: c, cluster: {server: 'https://a', zzz: 1, proxy-url: null}}]\n"
        "users: null\npreferences: {colors: true}\n"
        "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n---\nkind: Pod\n"
    )
    connection = loaded(written(tmp_path, text))
    assert connection.server == "https://a"
    assert run(connection.credentials.headers()) == {}


def test_the_error_about_an_unknown_context_lists_the_known_ones(tmp_path):
    """The nearest name comes first, and of many only some are shown."""
    names = [f"cell-{number}" for number in range(11)] + ["prod-eu"]
    document = config() | {"contexts": [{"name": name} for name in names], "current-context": ""}
    path = written(tmp_path, document)
    assert refused(path, context="prod-ue").startswith(
        f"{path}: contexts: there is no context 'prod-ue'; choose one of 'prod-eu', "
    )
    assert refused(path, context="x").endswith(" and 2 more")
    assert refused(path).startswith(f"{path}: current-context: not set; choose one of 'cell-0', ")


def test_a_current_context_that_is_not_there_is_an_error(tmp_path):
    """It is the file that is wrong, not the caller."""
    path = written(tmp_path, config() | {"current-context": "y\x1b"})
    assert refused(path) == (
        f"{path}: current-context: there is no context 'y\\x1b'; choose one of 'x'"
    )


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"cluster": "cc"}, "cluster: there is no cluster 'cc'; add it to clusters, or choose"),
        ({"cluster": ""}, "cluster: missing; name a cluster"),
        ({"user": "v"}, "user: there is no user 'v'; add it to users, or choose one of 'u'"),
    ],
)
def test_an_entry_that_the_context_names_must_be_there(tmp_path, context, problem):
    """Where kubectl would continue anonymously, or with this machine, the missing entry is named."""
    path = written(tmp_path, config(context=context))
    assert refused(path).startswith(f"{path}: contexts['x'].context.{problem}")


def test_a_file_without_clusters_names_none(tmp_path):
    """There is nothing to choose from."""
    path = written(tmp_path, config() | {"clusters": []})
    assert refused(path).endswith("there is no cluster 'c'; add it to clusters")


def test_names_that_are_not_there_are_empty(tmp_path):
    """An entry may be empty, and its name too, as kubectl has it."""
    document = config() | {"clusters": [{}], "users": [{"name": "u"}]}
    path = written(tmp_path, document)
    assert refused(path).endswith("or choose one of ''")


def test_contexts_are_listed_with_the_current_one_first(tmp_path):
    """For completion: the likeliest word first, the others in order."""
    names = [{"name": name} for name in ("b", "c", "a")]
    path = written(tmp_path, config() | {"contexts": names, "current-context": "c"})
    assert contexts([path]) == ["c", "a", "b"]


def test_all_contexts_of_a_file_are_loaded_and_the_broken_ones_reported(tmp_path):
    """One bad context takes none of the others with it."""
    two = config()
    two["contexts"] += [{"name": "bad", "context": {"cluster": "zz"}}]
    path = written(tmp_path, two)
    found = load_all(environment(), path)
    assert [each.origin for each in found.connections] == [ConnectionOrigin(str(path), "x")]
    assert [str(each).split(": ")[1] for each in found.problems] == [
        "contexts['bad'].context.cluster"
    ]


def test_all_files_of_a_folder_are_loaded_each_by_itself(tmp_path):
    """Equal names in two files are two connections; hidden files and folders are passed over."""
    for name in ("b", "a", ".hidden", "folder/c"):
        written(tmp_path, config({"server": f"https://{name[0]}.test"}), name)
    written(tmp_path, "a: [", "broken")
    found = load_all(environment(), tmp_path, {})
    assert [each.server for each in found.connections] == ["https://a.test", "https://b.test"]
    assert [str(each).startswith(f"{tmp_path / 'broken'}, line") for each in found.problems] == [
        True
    ]


def test_a_folder_that_is_not_there_is_a_problem(tmp_path):
    """Nothing is loaded, and it is said why."""
    for path in (tmp_path / "missing", tmp_path / ("x" * 300)):
        found = load_all(environment(), path)
        assert found.connections == ()
        assert [str(each).split(": ")[:2] for each in found.problems] == [
            [str(path), "cannot be read"]
        ]


@pytest.mark.parametrize(
    "text",
    [
        '{"clusters": [{"name": "a", "cluster": {"server": "https://a"}}]}',
        '# written\n# by hand\n{"clusters": [{"name": "a", "cluster": {"server": "https://a"}}]}',
        '{"clusters": [{"name": "a", "cluster": {"server": "https:\\/\\/a"}}]}',
        'clusters: [{"name": "a", "cluster": {"server": "https://a"}}]',
    ],
    ids=["plain JSON", "JSON after comments", "JSON with escapes", "YAML"],
)
def test_json_is_read_like_yaml(tmp_path, text):
    """JSON is read without a parser of YAML, with the same result."""
    file = tmp_path / "config"
    file.write_text(text)
    assert read_file(file).clusters["a"].value.server == "https://a"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"clusters": [], "clusters": []}',
            "line 1, column 18: the key 'clusters' is given twice",
        ),
        ('{"clusters": [}', "line 1, column 15: "),
        ('{"a": ' * 3000 + "1" + "}" * 3000, "nested deeper than 100 levels"),
    ],
    ids=["a key twice", "no JSON", "too deep"],
)
def test_json_that_cannot_be_read_has_the_error_of_yaml(tmp_path, text, problem):
    """The error names the line, and what is wrong there."""
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(Misconfigured, match=re.escape(problem)):
        read_file(file)
