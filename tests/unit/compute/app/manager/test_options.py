"""Which options of a manager work together, and what each refusal says."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from compute.app.manager.options import (
    STAND_INS,
    BadOption,
    ManagerOptions,
    faults,
    parse_gates,
    parse_stand_ins,
)

HUB = Path("hub.yaml")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (ManagerOptions(), "nothing is enabled: give --enable-management-controllers"),
        (
            ManagerOptions(management=True),
            "--federation-kubeconfig: the management controllers need",
        ),
        (
            ManagerOptions(provider="docker"),
            "--provider: there is no docker; there are simulated, pods",
        ),
        (
            ManagerOptions(provider="simulated", pods_allow_root=True),
            "--pods-allow-root: needs --provider pods",
        ),
        (
            ManagerOptions(cell=True, federation_context="hub"),
            "--federation-context: needs --federation-kubeconfig",
        ),
        (
            ManagerOptions(stand_ins=("networks", "locations"), federation_kubeconfig=HUB),
            "--cells-kubeconfig: the stand-ins locations and networks write in the cells",
        ),
        (ManagerOptions(stand_ins=("quota",)), "--federation-kubeconfig: the stand-ins read"),
    ],
)
def test_a_fault_names_the_option_and_the_fix(options, fault):
    (only,) = faults(options)

    assert only.startswith(fault)


@pytest.mark.parametrize(
    "options",
    [
        ManagerOptions(management=True, federation_kubeconfig=HUB),
        ManagerOptions(management=True, cell=True),
        ManagerOptions(cell=True),
        ManagerOptions(provider="simulated"),
        ManagerOptions(stand_ins=STAND_INS, federation_kubeconfig=HUB, cells_kubeconfig=HUB),
        ManagerOptions(management=True, cell=True, provider="pods", stand_ins=STAND_INS),
    ],
)
def test_each_role_runs_alone_and_all_run_in_one_cluster(options):
    assert not list(faults(options))


def test_everything_is_off_by_default():
    assert ManagerOptions().roles == []
    assert not ManagerOptions().networking


def test_gates():
    assert not parse_gates("")["NetworkingIntegration"]
    assert parse_gates("NetworkingIntegration=true")["NetworkingIntegration"]
    assert parse_gates(" NetworkingIntegration=True ,")["NetworkingIntegration"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Networking=true", "there is no 'Networking'; there is NetworkingIntegration"),
        (
            "NetworkingIntegration",
            "write NetworkingIntegration=true or NetworkingIntegration=false",
        ),
        ("NetworkingIntegration=yes", "write NetworkingIntegration=true"),
        ("InstanceTypes=true", "InstanceTypes is not supported by this version; remove it"),
    ],
)
def test_a_gate_that_is_unknown_or_not_set_right_is_refused(text, problem):
    with pytest.raises(BadOption, match=problem):
        parse_gates(text)


@given(st.lists(st.sampled_from(STAND_INS)))
def test_stand_ins_are_a_list_without_repetitions(names):
    assert parse_stand_ins(" ,".join(names)) == tuple(dict.fromkeys(names))


def test_stand_ins_all_or_a_typing_error():
    assert parse_stand_ins("all") == STAND_INS
    with pytest.raises(BadOption, match="there is no qouta; did you mean quota"):
        parse_stand_ins("qouta")
    with pytest.raises(BadOption, match="there is no x; there are quota, networks"):
        parse_stand_ins("quota,x")
