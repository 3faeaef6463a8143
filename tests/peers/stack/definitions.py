"""The definitions of kinds, ours and Karmada's, on a real API server."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import yaml

from tests.peers.stack.admin import Admin, Document, is_true

_ROOT = Path(__file__).parents[3]
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def ours() -> list[Document]:
    """The CRDs that we publish."""
    return read(_ROOT.glob("config/*/crd/*_*.yaml"))


def read(files: Iterable[Path]) -> list[Document]:
    """Every document of these files."""
    texts = (file.read_text(encoding="utf-8") for file in sorted(files))
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


async def serve(admin: Admin, definitions: Iterable[Document]) -> None:
    """Bring definitions, and wait until all kinds are served."""
    await asyncio.gather(*(admin.apply(PATH, document) for document in definitions))
    await admin.until(PATH, lambda found: all(is_true("Established", e) for e in found["items"]))
