"""Completion in real shells: what Tab does at the prompt of bash, zsh and fish."""

import shlex
import shutil
import subprocess

import pytest

from compute.cli.completion import name_cache
from tests.support.compute.cli_runner import COMPUTE, CommandLine, Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
# What is typed, and the line that Tab makes of it. The cities come from the running world.
LINES = [
    ("compute compl\t", "compute completion"),
    ("compute version --cl\t", "compute version --client"),
    ("compute version -o js\t", "compute version -o json"),
    ("compute cell cut df\t", "compute cell cut dfw"),
    ("compute instances --city LH\t", "compute instances --city LHR"),
    ("compute instances --city=SI\t", "compute instances --city=SIN"),
    ("compute instances --city DFW,LH\t", "compute instances --city DFW,LHR"),
    ("compute config use-project dem\t", "compute config use-project demo"),
]
DRIVER = """
source <(compute completion bash)
complete -p compute
drive() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9
    COMP_POINT=${#COMP_LINE}
    COMPREPLY=()
    _compute 2>/dev/null
    printf '%s\\n' "${COMPREPLY[@]}" "--"
}
drive compute plane ''
drive compute instances --city = L
drive compute completion b
drive compute nonsense ''
COMP_TYPE=63
drive_listed() { COMP_TYPE=63; COMP_WORDS=(compute pla) COMP_CWORD=1; _compute; printf '%s\\n' "${COMPREPLY[@]}"; }
drive_listed
"""


def start(shell: str, compute: CommandLine) -> Terminal:
    """A shell with a prompt of its own, nothing of the user's, and the script of completion."""
    folder = shlex.quote(str(COMPUTE.parent))
    path = f"PATH={folder}:$PATH"
    commands = {
        "bash": ["bash", "--norc", "--noprofile", "-i"],
        "zsh": ["zsh", "-f", "-i"],
        "fish": ["fish", "--no-config", "-i"],
    }
    load = {
        "bash": f"{path}; PS1='> '; source <(compute completion bash); echo loaded$((1+1))\n",
        "zsh": (
            f"{path}; PS1='> '; autoload -Uz compinit && compinit -u -D; "
            "source <(compute completion zsh); echo loaded$((1+1))\n"
        ),
        "fish": (
            f"set -gx PATH {folder} $PATH; function fish_prompt; echo '> '; end; "
            "compute completion fish | source; echo loaded(math 1+1)\n"
        ),
    }
    terminal = Terminal(commands[shell], compute, 100, 40)
    terminal.type(load[shell])
    terminal.until(r"^loaded2\s+>")  # what is typed before the prompt is echoed twice
    return terminal


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completes_the_line(compute, shell):
    """Commands, flags, values, comma lists, and names of the running world."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    with start(shell, compute) as terminal:
        for typed, line in LINES:
            terminal.type(typed)
            press_until(terminal, rf"> {line}\s*$")
            terminal.type("\x15")  # Ctrl-U: empty the line


def press_until(terminal: Terminal, wanted: str, times: int = 4) -> None:
    """Press Tab again, as a person does where a busy server did not answer within the limit.

    The pauses are longer than the cache keeps an answer without names.
    """
    for _ in range(times):
        try:
            terminal.until(wanted, name_cache.LIFE + 1)
        except AssertionError:
            terminal.type("\t")
        else:
            return
    terminal.until(wanted, name_cache.LIFE + 1)


def test_the_functions_of_bash(compute):
    """Without a terminal: the replies for words that bash has split at an equals sign."""
    done = subprocess.run(
        ["bash", "-c", DRIVER],
        env=compute.environment(PATH=f"{COMPUTE.parent}:/usr/bin:/bin", COLUMNS="60"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "complete -o nosort -F _compute compute",
        "serve", "users", "keys", "--",
        "LHR", "--",
        "bash", "--",
        "--",
        "plan  (Show what Workload manifests would create, without a ",
        "plane  (Serve a Kubernetes API from a folder; its users and ",
    ]  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed(compute, shell):
    """Its first line says which it is, and the next ones how to load it."""
    done = compute("completion", shell)
    assert done.code == 0
    assert f"compute completion {shell}" in done.stdout
    if shutil.which(shell) is not None:
        checked = subprocess.run(
            [shell, "-n", "/dev/stdin"], input=done.stdout, text=True, check=False
        )
        assert checked.returncode == 0
