"""Wrong calls of `deploy`, `diff` and `destroy`: each error names the flag, and what to write instead."""

import shlex

import pytest

from compute.cli.root import run

FILE_FIELD = "spec.template.spec.runtime.sandbox.containers[]"

WRONG = (
    ("deploy", "there is nothing to deploy: give NAME with --image and --city, or -f FILE"),
    ("deploy web --build", "--build: this command builds no images; build and push one, then name it "
     "with --image"),
    ("deploy web --build=. --image x", "--build: this command builds no images; build and push one, "
     "then name it with --image"),
    ("deploy web --runtime-class gvisor", "--runtime-class: the platform has one runtime for all "
     "instances; leave it out"),
    ("deploy web --max 3 --memory-percent 50", "--memory-percent: instances are scaled by cpu only; use "
     "--cpu-percent"),
    ("deploy web -f a.yaml", "NAME and -f exclude each other; set metadata.name in the manifest"),
    ("deploy -f a.yaml --image x", f"--image and -f exclude each other; set {FILE_FIELD}.image in the "
     "manifest"),
    ("deploy -f a.yaml --max 0", "--max and -f exclude each other; set "
     "spec.placements[].scaleSettings.maxReplicas in the manifest"),
    ("deploy -f a.yaml --no-http", f"--no-http and -f exclude each other; set {FILE_FIELD}.ports in the "
     "manifest"),
    ("deploy -f a.yaml -- x", f"arguments after -- and -f exclude each other; set {FILE_FIELD}.args in "
     "the manifest"),
    ("deploy -f - -f -", "stdin can be read only once: give `-f -` one time"),
    ("deploy -f a.yaml --save", "--save and -f exclude each other: the file is there already"),
    ("deploy web --city DFW --location-selector a=b", "--location-selector and --city both choose cities; "
     "give one"),
    ("deploy web --city DFW,", "--city: a city code is empty"),
    ("deploy web --http-port 80 --no-http", "--no-http: --http-port asks for the opposite; give one of the "
     "two"),
    ("deploy web --port 80 --port 81", "--port: two ports are named http; give each a name, such as "
     "admin=8081"),
    ("deploy web --env NAME", "--env: there is no '=' in it; write KEY=VALUE, or KEY- to remove the key"),
    ("deploy web --secret db", '--secret: "db" is neither NAME:/PATH, nor NAME-, which removes the files'),
    ("deploy web --instance-type huge", '--instance-type: there is no instance type "huge", only '
     "datumcloud/d1-standard-2"),
    ("deploy web --command 'a \"b'", "--command: cannot be split into words: no closing quotation"),
    ("deploy web --args x -- y", "--args: there are arguments after -- too; give one of the two"),
    ("deploy web --revision-note ' '", "--revision-note: the note is empty"),
    (f"deploy web --revision-note {'x' * 301}", "--revision-note: at most 300 characters fit"),
    ("deploy web --diff --detach", "--detach: --diff starts nothing to wait for; leave it out"),
    ("deploy web --dry-run --detach", "--detach: --dry-run starts nothing to wait for; leave it out"),
    ("deploy web --exit-code", "--exit-code: it is for --diff and --dry-run; leave it out"),
    ("deploy web --detach --timeout 5m", "--timeout: with --detach there is no wait; leave it out"),
    ("deploy web --dry-run --timeout 5m", "--timeout: with --dry-run there is no wait; leave it out"),
    ("deploy web --city-order LHR", "--city-order: it is for --pause-after; give both"),
    ("diff web --pause-after 1 --city-order LHR,", "--city-order: a city code is empty"),
    ("deploy web --pause-after 0", "--pause-after: give 1 or more cities; to hold a change back "
     "everywhere, pause the workload first with `compute rollout pause`"),
    ("deploy web --auto-undo --detach", "--auto-undo: with --detach no rollout can fail; leave one out"),
    ("deploy web --auto-undo --diff", "--auto-undo: with --diff no rollout can fail; leave one out"),
    ("deploy -f a.yaml --auto-undo --dry-run", "--auto-undo: with --dry-run no rollout can fail; leave "
     "one out"),
    ("deploy web --imgae x", "no such option: --imgae; did you mean --image?"),
    ("deploy web --watch", "no such option: --watch"),
    ("diff", "there is nothing to deploy: give NAME with --image and --city, or -f FILE"),
    ("destroy web --timeout 5m", "--timeout: without --wait there is no wait; give both"),
)  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), WRONG, ids=[line for line, _ in WRONG])
def test_a_wrong_call_is_explained(capsys, line, sentence):
    """One sentence, code 2, and nothing is contacted."""
    code = run(shlex.split(line))

    command = line.split()[0]
    assert capsys.readouterr().err == f"Error: {sentence}\nNext:  compute {command} --help\n"
    assert code == 2


def test_a_deletion_without_a_terminal_needs_a_yes(capsys):
    """It is refused before anything is contacted."""
    code = run(["destroy", "web", "api"])

    assert capsys.readouterr().err == (
        "Error: a deletion cannot be undone: without a terminal it needs -y (or COMPUTE_ASSUME_YES=1); "
        "nothing was deleted\n"
        "Next:  compute destroy web api -y\n"
    )
    assert code == 2
