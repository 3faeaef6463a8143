"""The checks by name, and their results."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Self


class Section(StrEnum):
    """What a check is about, in the order of a report."""

    CONNECTION = "Connection"
    PROJECT = "Project"
    WORKLOAD = "Workload"
    WORLD = "Platform on this machine"


class CheckStatus(StrEnum):
    """The outcome of a check, the worst first. Only a failure is an error of the command."""

    FAILED = "failed"
    WARNING = "warning"
    SKIPPED = "skipped"  # a fact that it needs could not be read
    PASSED = "passed"


class Fix(StrEnum):
    """A repair that is safe: it deletes nothing that a user wrote and that has an effect."""

    PRUNE_OVERRIDES = "prune-overrides"
    REMOVE_STATE = "remove-state"
    CREATE_NETWORK = "create-network"


class Check(StrEnum):
    """Every check. The value is its name in reports."""

    section: Section

    def __new__(cls, name: str, section: Section) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.section = section
        return member

    TARGET = "target", Section.CONNECTION
    SERVER = "server", Section.CONNECTION
    CREDENTIALS = "credentials", Section.CONNECTION
    VERSION = "version", Section.CONNECTION
    CLOCK = "clock", Section.CONNECTION
    KINDS = "kinds", Section.CONNECTION
    PROJECT = "project", Section.PROJECT
    ACCESS = "access", Section.PROJECT
    QUOTA = "quota", Section.PROJECT
    CITIES = "cities", Section.PROJECT
    NETWORKS = "networks", Section.PROJECT
    EXISTS = "exists", Section.WORKLOAD
    NAME = "name", Section.WORKLOAD
    CONTROLLER = "controller", Section.WORKLOAD
    HISTORY = "history", Section.WORKLOAD
    WRITERS = "writers", Section.WORKLOAD
    OVERRIDES = "overrides", Section.WORKLOAD
    RESTARTS = "restarts", Section.WORKLOAD
    REPORTS = "reports", Section.WORKLOAD
    GATES = "gates", Section.WORKLOAD
    ORDER = "order", Section.WORKLOAD
    IMAGES = "images", Section.WORKLOAD
    CRASHES = "crashes", Section.WORKLOAD
    CONFIGURATION = "configuration", Section.WORKLOAD
    SERVING = "serving", Section.WORKLOAD
    DELETION = "deletion", Section.WORKLOAD
    PROCESS = "process", Section.WORLD
    PORT = "port", Section.WORLD
    DISK = "disk", Section.WORLD
    LOG = "log", Section.WORLD
    LEFTOVERS = "leftovers", Section.WORLD
    CELLS = "cells", Section.WORLD

    def passed(self, detail: str) -> "Finding":
        return Finding(self, CheckStatus.PASSED, detail)

    def skipped(self, why: str) -> "Finding":
        return Finding(self, CheckStatus.SKIPPED, why)

    def warning(self, cause: str, cure: str = "", fix: Fix | None = None) -> "Finding":
        """Something that is not an error yet, or that only looks like one."""
        return Finding(self, CheckStatus.WARNING, cause, cure, fix)

    def failed(self, cause: str, cure: str = "", fix: Fix | None = None) -> "Finding":
        """Something that is wrong. ``cure`` is one command to type next."""
        return Finding(self, CheckStatus.FAILED, cause, cure, fix)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: what holds, why it was skipped, or the cause and its cure."""

    check: Check
    status: CheckStatus
    detail: str
    cure: str = ""  # one command
    fix: Fix | None = None  # what `doctor --fix` does about it
    subject: str = ""  # the Workload of a check of one, or the object that a fix changes


def seconds(length: timedelta) -> str:
    """A length in whole seconds: ``75s``."""
    return f"{int(length.total_seconds())}s"
