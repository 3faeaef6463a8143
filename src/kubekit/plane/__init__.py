"""A Kubernetes API server that can be embedded: one directory, one process, no other service.

    plane = await Plane.open(directory, builtin_kinds(), environment, definitions=crds)
    server = PlaneServer(directory, ("127.0.0.1", 7443), environment)
    server.mount("/", plane)
    async with server.listening():
        await LocalClient(plane).create(obj)

This is the public interface. Everything below is an implementation detail; `docs/planes.md` follows a
request through it:

    http, local    the transports
    registry       the verbs, schemas and built-in controllers
    store          the log in SQLite, and the state in memory
    apply          managed fields and server-side apply
    admission      webhooks and the quota of the plane
    access         role-based access control
    identity       service accounts and tokens

`plane.Plane` puts one plane together, `server.PlaneServer` serves several.
"""

from kubekit.plane.directory import PlaneDirectory
from kubekit.plane.errors import PlaneError
from kubekit.plane.http.certificates.authority import Authority, ClientPair, IssuedCertificate
from kubekit.plane.local import LocalClient
from kubekit.plane.plane import Plane
from kubekit.plane.private_files import write_private
from kubekit.plane.registry.admission import AdmissionPlugin, Attempt
from kubekit.plane.registry.builtins import native as builtin_kinds
from kubekit.plane.registry.definitions.served_kinds import kinds_of
from kubekit.plane.registry.kinds import Kinds
from kubekit.plane.registry.verbs.watches import Watch
from kubekit.plane.server import PlaneServer
from kubekit.plane.users import MASTERS, User

__all__ = [
    "MASTERS",
    "AdmissionPlugin",
    "Attempt",
    "Authority",
    "ClientPair",
    "IssuedCertificate",
    "Kinds",
    "LocalClient",
    "Plane",
    "PlaneDirectory",
    "PlaneError",
    "PlaneServer",
    "User",
    "Watch",
    "builtin_kinds",
    "kinds_of",
    "write_private",
]
