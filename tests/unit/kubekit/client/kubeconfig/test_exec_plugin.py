"""Credential plugins: how they are asked, what of their answers is kept, and how they fail."""

import asyncio
import os
import pty
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop

from kubekit.client.connection import NoCredentials
from kubekit.client.kubeconfig.cluster_info import ClusterInfo
from kubekit.client.kubeconfig.exec_plugin import ExecPlugin, ExecSettings, shared
from tests.support.kubekit.kubeconfig_builders import (
    SECRET,
    V1,
    V1BETA1,
    Clock,
    client_pair,
    environment,
    plugin,
    runs,
    server_pair,
)


def made(folder, body, inherited=None, **more: Any):
    path = plugin(folder, body)
    settings = ExecSettings(
        **{"command": str(path), "api_version": V1, "interaction": "Never"} | more
    )
    return ExecPlugin(settings, environment(), inherited or {"PATH": ""})


def test_a_plugin_is_asked_and_answers(tmp_path):
    """The arguments, the variables and the question reach the program; its token is the header."""
    body = 'answer(token=" ".join([*sys.argv[1:], os.environ["A"], os.environ["B"], json.dumps(info)]))'
    credentials = made(
        tmp_path,
        body,
        {"PATH": "", "A": "theirs", "B": "kept"},
        arguments=("$(id)", "; x"),
        variables=(("A", "first"), ("A", "ours")),
    )
    question = (
        f'{{"kind": "ExecCredential", "apiVersion": "{V1}", "spec": {{"interactive": false}}}}'
    )
    assert asyncio.run(credentials.headers()) == {
        "Authorization": f"Bearer $(id) ; x ours kept {question}"
    }


def test_a_plugin_learns_of_the_server_when_it_asks_for_it(tmp_path):
    """The cluster is passed with the fields of the kubeconfig, without empty ones."""
    cluster = ClusterInfo(
        server="https://a/p",
        server_name="b",
        authority=b"PEM",
        compression=False,
        extension={"audience": "x", "n": None},
    )
    credentials = made(
        tmp_path, 'answer(token=json.dumps(info["spec"]["cluster"]))', cluster=cluster
    )
    assert asyncio.run(credentials.headers())["Authorization"] == (
        'Bearer {"server": "https://a/p", "tls-server-name": "b", '
        '"certificate-authority-data": "UEVN", "disable-compression": true, '
        '"config": {"audience": "x", "n": null}}'
    )


def test_a_plugin_may_give_a_certificate(tmp_path):
    """A certificate alone needs no header; it is there once the plugin ran."""
    pair = client_pair()
    body = f"answer(clientCertificateData={pair.certificate.decode()!r}, clientKeyData={pair.key.decode()!r})"
    credentials = made(tmp_path, body)
    assert credentials.certificate() is None
    assert asyncio.run(credentials.headers()) == {}
    assert credentials.certificate() == pair


def test_yaml_and_unknown_fields_are_taken(tmp_path):
    """What kubectl reads is read."""
    body = f'print("apiVersion: {V1}\\nstatus: {{token: abc, more: 1}}\\nother: 1")'
    assert asyncio.run(made(tmp_path, body).headers()) == {"Authorization": "Bearer abc"}


def test_what_a_plugin_gave_is_kept_until_shortly_before_its_end(tmp_path):
    """A token is used for its life less a minute; then the plugin runs again."""
    clock = Clock()
    body = 'answer(token=str(count), expirationTimestamp="2026-03-01T13:00:00Z")'
    credentials = _with(clock, tmp_path, body)

    async def story() -> list[str]:
        tokens = []
        for seconds in (0, 3539, 1):
            clock.pass_(seconds)
            tokens.append((await credentials.headers())["Authorization"])
        return tokens

    assert asyncio.run(story()) == ["Bearer 1", "Bearer 1", "Bearer 2"]


def test_a_short_life_is_used_for_nine_tenths(tmp_path):
    """A token of 30 seconds is not thrown away at once for being near its end."""
    clock = Clock()
    body = 'answer(token=str(count), expirationTimestamp="2026-03-01T12:00:30Z")'
    credentials = _with(clock, tmp_path, body)

    async def story() -> int:
        for seconds in (0, 26):
            clock.pass_(seconds)
            await credentials.headers()
        return runs(tmp_path)

    assert asyncio.run(story()) == 1


def test_what_is_over_already_is_used_once(tmp_path):
    """A token with an end in the past is sent, as kubectl does, and asked for again the next time."""
    body = 'answer(token=str(count), expirationTimestamp="2001-01-01T00:00:00Z")'
    credentials = made(tmp_path, body)

    async def story() -> list[str]:
        return [(await credentials.headers())["Authorization"] for _ in range(2)]

    assert asyncio.run(story()) == ["Bearer 1", "Bearer 2"]


def test_a_token_without_an_expiry_is_kept(tmp_path):
    """Only a refusal makes the plugin run again."""
    clock = Clock()
    credentials = _with(clock, tmp_path, "answer(token=str(count))")

    async def story() -> int:
        await credentials.headers()
        clock.pass_(10**8)
        await credentials.headers()
        return runs(tmp_path)

    assert asyncio.run(story()) == 1


def test_a_refused_token_is_replaced_once_for_all_who_were_refused(tmp_path):
    """After a 401 the plugin runs again, but not for what it gave a moment ago."""
    credentials = made(tmp_path, "answer(token=str(count))")

    async def story() -> list[object]:
        worth = [await credentials.renew()]
        tokens = [(await credentials.headers())["Authorization"]]
        _turn_clock(asyncio.get_running_loop(), 11)
        for _ in range(3):
            worth.append(await credentials.renew())
            tokens.append((await credentials.headers())["Authorization"])
        return [all(worth), *tokens]

    assert asyncio.run(story()) == [True, "Bearer 1", "Bearer 2", "Bearer 2", "Bearer 2"]


def test_one_run_serves_all_who_wait(tmp_path):
    """However many ask at once, the plugin is started once."""
    credentials = made(tmp_path, "answer(token=str(count))")

    async def story() -> set[str]:
        answers = await asyncio.gather(*(credentials.headers() for _ in range(20)))
        return {answer["Authorization"] for answer in answers}

    assert asyncio.run(story()) == {"Bearer 1"}
    assert runs(tmp_path) == 1


def test_a_failure_is_shared_and_the_next_caller_tries_again(tmp_path):
    """All who wait hear of the failure; it is not remembered."""
    credentials = made(tmp_path, 'answer(token="x") if count > 1 else sys.exit(3)')

    async def story() -> list[object]:
        waiting = (credentials.headers() for _ in range(5))
        failures = await asyncio.gather(*waiting, return_exceptions=True)
        return [*map(type, failures), await credentials.headers()]

    assert asyncio.run(story()) == [NoCredentials] * 5 + [{"Authorization": "Bearer x"}]


def test_equal_settings_share_what_a_plugin_gave(tmp_path):
    """Two connections with the same plugin run it once; with other arguments it is another one."""
    path = str(plugin(tmp_path, "answer(token=str(count))"))
    settings = ExecSettings(command=path, api_version=V1, named_by="one", install_hint="a")
    same = ExecSettings(command=path, api_version=V1, named_by="two", install_hint="b")
    other = ExecSettings(command=path, api_version=V1, arguments=("x",))
    world = environment()
    one, two, three = (shared(each, world) for each in (settings, same, other))
    assert one is two is not three
    assert shared(settings, environment()) is not one


def test_what_is_held_is_used_on_while_it_cannot_be_replaced(tmp_path, caplog):
    """A plugin that fails before the old token expires does not fail requests until then."""
    clock = Clock()
    ends = "2026-03-01T13:00:00Z"
    body = f'answer(token="old", expirationTimestamp="{ends}") if count == 1 else sys.exit(1)'
    credentials = _with(clock, tmp_path, body)

    async def story() -> list[object]:
        tokens: list[object] = []
        for seconds in (0, 3550, 5, 6):
            clock.pass_(seconds)
            tokens.append((await credentials.headers())["Authorization"])
            tokens.append(runs(tmp_path))
        return tokens[:-2]

    with pytest.raises(NoCredentials, match="code 1"):
        asyncio.run(_late(story, clock, credentials))
    assert [record.message for record in caplog.records] == [
        "keeping the last credentials of a plugin"
    ] * 2


async def _late(story, clock, credentials):
    tokens = await story()
    assert tokens == ["Bearer old", 1, "Bearer old", 2, "Bearer old", 2]
    clock.pass_(60)
    await credentials.headers()


def test_the_run_ends_when_there_are_no_more_waiters(tmp_path):
    """The last one who stops waiting stops the program, with its children; the next starts it anew."""
    credentials = made(tmp_path, _ENDLESS)

    async def story() -> list[bool]:
        waiting = [asyncio.ensure_future(credentials.headers()) for _ in range(2)]
        pids = await _started(tmp_path)
        waiting[0].cancel()
        await asyncio.wait(waiting[:1])
        alive = [_alive(pid) for pid in pids]
        waiting[1].cancel()
        await asyncio.wait(waiting)
        await _gone(pids)
        return alive

    assert asyncio.run(story()) == [True, True]


def test_a_plugin_that_takes_too_long_is_stopped_with_its_children(tmp_path):
    """The message says how long it was given; nothing of it is left running."""
    credentials = made(tmp_path, _ENDLESS, limit=60.0)

    async def story() -> str:
        waiting = asyncio.ensure_future(credentials.headers())
        pids = await _started(tmp_path)
        _turn_clock(asyncio.get_running_loop(), 60)
        with pytest.raises(NoCredentials) as refused:
            await waiting
        await _gone(pids)
        return str(refused.value)

    assert asyncio.run(story()).endswith(": it took longer than 60 seconds and was stopped")


def test_a_child_that_outlives_a_good_plugin_is_left_alone(tmp_path):
    """A plugin may leave an agent behind, as long as it does not keep the answer open."""
    body = (
        "null = subprocess.DEVNULL\n"
        'child = subprocess.Popen(["sleep", "60"], stdin=null, stdout=null, stderr=null)\n'
        "answer(token=str(child.pid))"
    )
    credentials = made(tmp_path, body, {"PATH": os.environ["PATH"]})
    pid = int(asyncio.run(credentials.headers())["Authorization"].split()[1])
    assert _alive(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("sys.exit(7)", "it ended with code 7: without a message"),
        (
            'print("\\x1b[31mno  way\\n\\nlog in", file=sys.stderr); sys.exit(1)',
            r"it ended with code 1: \x1b[31mno way log in",
        ),
        ('sys.exit("x" * 5000)', f"it ended with code 1: ...{'x' * 500}"),
        ("os.kill(os.getpid(), 9)", "it was ended by SIGKILL: without a message"),
        ("os.kill(os.getpid(), 40)", "it was ended by signal 40: without a message"),
        ('print("x" * 2**21)', "it printed more than 1024 KiB"),
        ("", "it printed no ExecCredential"),
        ('print("---\\na: 1\\n---\\nb: 1")', "it printed no ExecCredential"),
        (f'print("{SECRET}")', "its answer is no ExecCredential: Expected `object`, got `str`"),
        (
            f'print("{{{SECRET}")',
            "its answer is neither JSON nor YAML, at line 2, column 1",
        ),
        (f'print("{SECRET}" * 2**18)', "it printed more than 1024 KiB"),
        (f'answer("{SECRET}", token="x")', f"the apiVersion of something else, but the kubeconfig says {V1}"),
        (f'answer("{V1BETA1}", token="x")', f"the apiVersion {V1BETA1}, but the kubeconfig says {V1}"),
        (f'print(json.dumps(dict(apiVersion="{V1}")))', "its answer has no status"),
        (f'print(json.dumps(dict(apiVersion="{V1}", kind="{SECRET}")))', "is of another kind than ExecCredential"),
        ("answer()", "its answer has neither a token nor a client certificate"),
        (f'answer(token="{SECRET}\\nx")', "status.token of its answer holds characters"),
        (f'answer(clientKeyData="{SECRET}")', "only one of clientCertificateData and clientKeyData"),
        (
            f'answer(clientCertificateData="{SECRET}", clientKeyData="x")',
            "clientCertificateData and clientKeyData of its answer: not a certificate",
        ),
        (f'answer(token="x", expirationTimestamp="{SECRET}")', "Invalid RFC3339 encoded datetime"),
        ('answer(token="x", expirationTimestamp="2026-01-01T00:00:00")', "timezone"),
        (f'answer(token=["{SECRET}"])', "got `array` - at `$.status.token`"),
    ],
)  # fmt: skip
def test_a_plugin_that_gives_no_credentials_is_an_error(tmp_path, body, problem):
    """The message names the kubeconfig, the plugin and what is wrong, and shows nothing it gave."""
    credentials = made(tmp_path, body, named_by="/a: users['u'].user.exec")
    with pytest.raises(NoCredentials) as refused:
        asyncio.run(credentials.headers())
    message = str(refused.value)
    assert message.startswith("/a: users['u'].user.exec: the credential plugin ")
    assert problem in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"command": "no-such-plugin"}, "it is not installed, or not in the PATH; get it at example.com now"),
        ({"command": "/no/such"}, "there is no such file; get it at example.com now"),
        ({"command": "/etc/passwd"}, "it cannot be started: Permission denied"),
        ({"command": "/etc"}, "it cannot be started: Permission denied"),
        ({"command": "/a\0b"}, "an argument or variable holds a NUL"),
        ({"arguments": ("a\0b",)}, "an argument or variable holds a NUL"),
        ({"variables": (("a=b", "c"),)}, "an argument or variable holds a NUL or '='"),
        ({"arguments": ("x" * 2**20,)}, "it cannot be started: Argument list too long"),
        ({"interaction": "Always"}, "it must ask a person, and the standard input is no terminal"),
    ],
)  # fmt: skip
def test_a_plugin_that_cannot_be_started_is_an_error(tmp_path, settings, problem):
    """The message says why, and for a missing program what its installHint advises."""
    hint = {"install_hint": "get it at\n example.com \x1bnow"}
    credentials = ExecPlugin(
        ExecSettings(**{"command": str(plugin(tmp_path, "")), "api_version": V1} | hint | settings),
        environment(),
        {"PATH": "/nowhere"},
        os.open("/dev/null", os.O_RDONLY),
    )
    with pytest.raises(NoCredentials) as refused:
        asyncio.run(credentials.headers())
    assert problem.replace(" now", " \\x1bnow") in str(refused.value)


def test_a_command_is_looked_for_in_the_path_but_not_where_one_stands(tmp_path, monkeypatch):
    """A PATH that means the working directory must not let a stranger's folder name the program."""
    plugin(tmp_path, 'answer(token="x")')
    settings = ExecSettings(command="plugin", api_version=V1, interaction="Never")
    there = ExecPlugin(settings, environment(), {"PATH": str(tmp_path)})
    assert asyncio.run(there.headers()) == {"Authorization": "Bearer x"}
    monkeypatch.chdir(tmp_path)
    for path in (".", ""):
        with pytest.raises(NoCredentials, match="not in the PATH"):
            asyncio.run(ExecPlugin(settings, environment(), {"PATH": path}).headers())


@pytest.mark.parametrize("mode", ["IfAvailable", "Always"])
def test_a_plugin_may_ask_the_person_at_the_terminal(tmp_path, mode):
    """Where there is a terminal it is the plugin's standard input, and the question says so."""
    body = 'answer(token=" ".join(map(str, (info["spec"]["interactive"], sys.stdin.isatty(), input()))))'
    main, terminal = pty.openpty()
    settings = ExecSettings(command=str(plugin(tmp_path, body)), api_version=V1, interaction=mode)
    try:
        os.write(main, b"typed\n")
        credentials = ExecPlugin(settings, environment(), {}, terminal)
        assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer True True typed"}
    finally:
        os.close(main)
        os.close(terminal)


def test_a_talking_plugin_may_fail(tmp_path):
    """What it had to say went to the person; the message has the code."""
    main, terminal = pty.openpty()
    settings = ExecSettings(command=str(plugin(tmp_path, "sys.exit(3)")), api_version=V1)
    try:
        with pytest.raises(NoCredentials, match="it ended with code 3: without a message"):
            asyncio.run(ExecPlugin(settings, environment(), {}, terminal).headers())
    finally:
        os.close(main)
        os.close(terminal)


def test_a_plugin_runs_on_the_loop_of_the_product(tmp_path):
    """On uvloop it is asked, and stopped, as on the loop of the standard library."""
    body = f"if count > 1: answer(token='x'); sys.exit()\n{_ENDLESS}"
    credentials = made(tmp_path, body, limit=5.0)  # the clock of this loop cannot be advanced

    async def story() -> object:
        with pytest.raises(NoCredentials, match="longer than 5 seconds"):
            await credentials.headers()
        await _gone(await _started(tmp_path))
        return await credentials.headers()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(story()) == {"Authorization": "Bearer x"}


def test_a_plugin_may_end_some_time_after_its_answer(tmp_path):
    """Its code counts, also when it has closed its pipes before."""
    body = 'answer(token="x"); sys.stdout.flush(); os.closerange(1, 3)\n'
    body += "import time; time.sleep(0.05); os._exit(0 if count > 1 else 5)"
    credentials = made(tmp_path, body)
    with pytest.raises(NoCredentials, match="it ended with code 5"):
        asyncio.run(credentials.headers())
    assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer x"}


def test_no_pipe_of_a_plugin_stays_open(tmp_path):
    """Whether it answers, fails or cannot be started, it costs no descriptor."""
    bodies = ('answer(token="x", expirationTimestamp="2001-01-01T00:00:00Z")', "sys.exit(1)")
    folders = [tmp_path / str(number) for number in range(len(bodies))]
    for folder in folders:
        folder.mkdir()
    plugins = [made(*each) for each in zip(folders, bodies, strict=True)]
    plugins.append(made(tmp_path, "", command="/no/such"))

    async def story() -> None:
        await asyncio.gather(*(each.headers() for each in plugins), return_exceptions=True)
        before = _descriptors()
        for _ in range(3):
            await asyncio.gather(*(each.headers() for each in plugins), return_exceptions=True)
        while _descriptors() > before:  # noqa: ASYNC110 - the system's own count
            await asyncio.sleep(0.01)

    asyncio.run(story())
    assert [runs(folder) for folder in folders] == [4, 4]


def test_a_talking_plugin_is_stopped_too(tmp_path):
    """A plugin in the terminal's session is killed by its own number."""
    main, terminal = pty.openpty()
    body = '(here / "pids").write_text(f"{os.getpid()}\\n")\ninput()'
    settings = ExecSettings(command=str(plugin(tmp_path, body)), api_version=V1, limit=60.0)

    async def story() -> None:
        credentials = ExecPlugin(settings, environment(), {}, terminal)
        waiting = asyncio.ensure_future(credentials.headers())
        pids = await _started(tmp_path)
        _turn_clock(asyncio.get_running_loop(), 60)
        with pytest.raises(NoCredentials, match="longer than 60 seconds"):
            await waiting
        await _gone(pids)

    try:
        asyncio.run(story())
    finally:
        os.close(main)
        os.close(terminal)


def test_a_plugin_can_be_used_by_one_loop_after_another(tmp_path):
    """What it gave outlives the loop, and a run that a loop took with it is forgotten."""
    credentials = made(tmp_path, f"if count > 1: answer(token='x'); sys.exit()\n{_ENDLESS}")

    async def interrupted() -> None:
        waiting = asyncio.ensure_future(credentials.headers())
        await _started(tmp_path)
        assert not waiting.done()

    asyncio.run(interrupted())
    assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer x"}
    assert asyncio.run(credentials.headers()) == {"Authorization": "Bearer x"}
    assert runs(tmp_path) == 2


def test_no_secret_is_in_the_words_for_a_plugin(tmp_path):
    """Control K2: neither what a plugin is given nor what it gives is printed."""
    pair = server_pair()
    body = (
        f"answer(token={SECRET!r}, clientCertificateData={pair.certificate.decode()!r}, "
        f"clientKeyData={pair.key.decode()!r})"
    )
    more: Any = {"arguments": (SECRET,), "variables": (("A", SECRET),)}
    credentials = made(tmp_path, body, **more)
    asyncio.run(credentials.headers())
    settings = ExecSettings(command="x", api_version=V1, **more)
    assert SECRET not in f"{credentials!r} {vars(credentials)!r} {settings!r}"


_ENDLESS = """
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
(here / "pids").write_text(f"{os.getpid()} {child.pid}\\n")
child.wait()
"""


def _with(clock, folder, body):
    settings = ExecSettings(command=str(plugin(folder, body)), api_version=V1, interaction="Never")
    return ExecPlugin(settings, clock.environment, {})


def _turn_clock(loop, seconds):
    """Make the loop believe that time has passed."""
    real = loop.time
    loop.time = lambda: real() + seconds


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def _started(folder) -> list[int]:
    """The processes of the endless plugin, once they run."""
    path = folder / "pids"
    while not (path.exists() and path.read_text().endswith("\n")):  # noqa: ASYNC110 - a process
        await asyncio.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


async def _gone(pids) -> None:
    while any(_alive(pid) for pid in pids):  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)


def _alive(pid: int) -> bool:
    with suppress(ProcessLookupError, FileNotFoundError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
