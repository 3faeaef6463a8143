"""A transport to a plane that records the access reviews."""

import msgspec

from kubekit.api.kinds.authorization import SubjectAccessReview
from kubekit.client.options import WriteOptions
from kubekit.client.transport import Document, ResourceLocation
from kubekit.plane.local import LocalTransport
from kubekit.plane.plane import Plane


class ReviewRecorder(LocalTransport):
    """Everything that is created through it is an access review, and is recorded."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane)
        self.reviews: list[SubjectAccessReview] = []

    async def create(
        self, place: ResourceLocation, document: Document, options: WriteOptions
    ) -> Document:
        self.reviews.append(msgspec.convert(document, SubjectAccessReview))
        return await super().create(place, document, options)
