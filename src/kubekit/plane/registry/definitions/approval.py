"""Protected API groups of Kubernetes: a definition in one needs an approval annotation."""

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from kubekit.api.fields import FieldError, Path, invalid, required

ANNOTATION: Final = "api-approved.kubernetes.io"
CONDITION: Final = "KubernetesAPIApprovalPolicyConformant"
_DOMAINS: Final = ("k8s.io", "kubernetes.io")
_UNAPPROVED: Final = "unapproved"
_PATH: Final = Path("metadata.annotations").key(ANNOTATION)
_SEE: Final = "see https://github.com/kubernetes/enhancements/pull/1111"
_NEEDED: Final = f'protected groups must have approval annotation "{ANNOTATION}"'


def errors(group: str, annotations: Mapping[str, str]) -> Iterator[FieldError]:
    """The errors in the approval annotation of a definition in this group."""
    note = annotations.get(ANNOTATION, "")
    if not _is_protected(group):
        return
    if not note:
        yield required(_PATH, f"{_NEEDED}, {_SEE}")
    elif not (note.startswith(_UNAPPROVED) or _is_address(note)):
        choice = f'with either a URL or a reason starting with "{_UNAPPROVED}"'
        yield invalid(_PATH, note, f"{_NEEDED} {choice}, {_SEE}")


def condition(group: str, annotations: Mapping[str, str]) -> dict[str, str] | None:
    """The approval condition of the status; None for other groups."""
    note = annotations.get(ANNOTATION, "")
    if not _is_protected(group):
        return None
    if note.startswith(_UNAPPROVED) or not note:
        return {
            "type": CONDITION,
            "status": "False",
            "reason": "UnapprovedAnnotation",
            "message": f'not approved: "{note}"',
        }
    return {
        "type": CONDITION,
        "status": "True",
        "reason": "ApprovedAnnotation",
        "message": f"approved in {note}",
    }


def _is_protected(group: str) -> bool:
    return any(group == domain or group.endswith(f".{domain}") for domain in _DOMAINS)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)
