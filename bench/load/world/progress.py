"""What a listener reads of a document, and no more of it: how far an Instance or a Workload is."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Final

import msgspec

from compute.api.gates import QUOTA


class Stage(IntEnum):
    """How far an Instance has come, in order."""

    CREATED = 0  # in its cell
    GRANTED = 1  # the gate Quota is open
    PROGRAMMED = 2  # by its provider
    READY = 3  # in its cell
    COPIED = 4  # Ready on the hub
    PROJECTED = 5  # Ready in its project


class _Named(msgspec.Struct):
    name: str


class _Controller(msgspec.Struct, rename="camel"):
    scheduling_gates: list[_Named] = []


class _Spec(msgspec.Struct):
    controller: _Controller = msgspec.field(default_factory=_Controller)


class _Condition(msgspec.Struct):
    type: str
    status: str


class _Conditions(msgspec.Struct):
    conditions: list[_Condition] = []


class _Instance(msgspec.Struct):
    spec: _Spec
    status: _Conditions = msgspec.field(default_factory=_Conditions)

    def says(self, kind: str) -> bool:
        """Whether a condition is true."""
        return any(each.type == kind and each.status == "True" for each in self.status.conditions)

    def stages(self) -> Iterator[Stage]:
        """How far it is by its own word, in its cell."""
        if all(gate.name != QUOTA for gate in self.spec.controller.scheduling_gates):
            yield Stage.GRANTED
        if self.says("Programmed"):
            yield Stage.PROGRAMMED
        if self.says("Ready"):
            yield Stage.READY


class _Counts(msgspec.Struct, rename="camel"):
    observed_generation: int = 0
    desired_replicas: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    current_replicas: int = 0


class _Meta(msgspec.Struct):
    generation: int = 0


class _Workload(msgspec.Struct):
    metadata: _Meta
    status: _Counts = msgspec.field(default_factory=_Counts)

    def serves(self, wanted: int) -> bool:
        """Whether every counter says that all of it runs."""
        said = self.status
        counts = {said.desired_replicas, said.replicas, said.ready_replicas,
                  said.updated_replicas, said.current_replicas}  # fmt: skip
        return said.observed_generation == self.metadata.generation and counts == {wanted}


read_instance: Final = msgspec.json.Decoder(_Instance).decode
read_workload: Final = msgspec.json.Decoder(_Workload).decode
