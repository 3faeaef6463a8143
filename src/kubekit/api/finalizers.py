"""Kubernetes' own finalizers."""

from typing import Final

FOREGROUND: Final = "foregroundDeletion"  # until the garbage collector has deleted its dependents
CLEANUP: Final = "customresourcecleanup.apiextensions.k8s.io"  # a CRD: until its objects are gone
