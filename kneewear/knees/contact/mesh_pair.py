"""Contact between triangle meshes: elements on one body, a field of distances on the other."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from kneewear.contact import _distance_kernels as distances
from kneewear.contact import _force_kernels as forces
from kneewear.contact._kernels import Options
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import working_arrays
from kneewear.contact.resultant import Resultant
from kneewear.contact.traction import Damping, Friction, traction_law
from kneewear.geometry.meshes import TriangleMesh
from kneewear.knees.contact import _field_kernels as kernels
from kneewear.knees.contact.distance_field import DistanceField
from kneewear.mechanics.rotations import require_rotation

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class MeshContact:
    """Elastic foundation on the triangles of a fixed body, pressed by a moving body.

    Every triangle of `mesh` (in mm and the fixed body's frame, normals out of it) is one element at
    its centre, and `indenter` the field of distances of the moving body, in that one's frame.
    `layer` has one thickness per triangle. Pressure acts along the gradient of the distance, so
    that without friction and damping forces have a potential. `outermost` triangles (n,) have a
    vertex on an open edge, `border` (m, 3) are such vertices of the moving body, mm. ValueError if
    the numbers of triangles and thicknesses differ.

    Notes
    -----
    For bodies that are meshes and need contact anywhere on them, such as a patella. Where a
    condyle and a plateau are known as patches, `kneewear.contact.pair.ContactPair` has exact
    surfaces and maps of pressure.
    """

    def __init__(
        self,
        mesh: TriangleMesh,
        indenter: DistanceField,
        layer: ElasticLayer,
        *,
        friction: Friction | None = None,
        damping: Damping | None = None,
    ) -> None:
        count = len(mesh.faces)
        thickness = np.array(layer.thickness, dtype=float)
        if thickness.shape != (count,):
            raise ValueError(
                f"a layer needs {count} thicknesses, one per triangle; found {thickness.size}"
            )
        self.centre = np.ascontiguousarray(mesh.vertices[mesh.faces].mean(axis=1))
        self.area = np.linalg.norm(mesh.face_normals, axis=1)
        self.normal = normal = mesh.face_normals / np.maximum(self.area, 1e-300)[:, None]
        one = np.cross(normal, np.roll(np.eye(3)[np.abs(normal).argmin(axis=1)], 1, axis=1))
        one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-300)
        columns = [np.ascontiguousarray(v.T) for v in (self.centre, normal, one)]
        other = np.ascontiguousarray(np.cross(normal, one).T)
        order = np.arange(count)
        nothing = np.zeros(1)
        self._pair = kernels.FieldPair(
            field=indenter.arrays,
            elements=distances.ElementArrays(
                columns[0],
                columns[1],
                self.area,
                columns[2],
                other,
                order,
                np.zeros((1, 8), dtype=np.int64),
                nothing,
                nothing,
            ),
            tiles=distances.TileArrays(
                np.zeros((1, 3)),
                np.zeros((1, 3)),
                nothing,
                nothing,
                np.array([0, count]),
                np.array([0, 1]),
            ),
            law=layer.law.arrays,
            thickness=thickness,
            traction=traction_law(friction, damping),
            options=Options(
                distances.MINIMUM_DISTANCE,
                False,
                forces.ALONG_MINIMUM_DISTANCE,
                distances.ALL,
                False,
                False,
            ),
            work=working_arrays(count, 1),
        )
        self.outermost = np.sum(np.isin(mesh.faces, mesh.border_vertices), axis=1) > 0
        self.border = indenter.border
        self._results = np.zeros(1, dtype=forces.RESULT)
        self._layer = layer

    def evaluate(
        self, rotation: ArrayLike, translation: ArrayLike, velocity: ArrayLike | None = None
    ) -> Resultant:
        """Contact at one pose; arguments as of `kneewear.contact.pair.ContactModel.evaluate`."""
        moving = velocity is not None
        kernels.evaluate_field(
            self._pair,
            np.ascontiguousarray(require_rotation(rotation)),
            np.ascontiguousarray(translation, dtype=float),
            np.zeros(6) if velocity is None else np.ascontiguousarray(velocity, dtype=float),
            moving,
            self._results,
        )
        active = int(self._results["active_elements"][0])
        return Resultant(self._results[0].copy(), self._pair.work.outcome[:active].copy(), None)

    def energy(self, found: Resultant, chosen: NDArray[np.bool_] | None = None) -> float:
        """Stored energy of a contact at rest, N mm, or that of the `chosen` triangles (n,)."""
        own = found.element if chosen is None else found.element[chosen[found.element]]
        depth = np.zeros(len(self.area))
        depth[found.element] = found.penetration
        stored = self._layer.law.energy(depth[own], self._layer.thickness[own])
        return float(stored @ self.area[own])


class MeshEnds:
    """Ends of the surfaces of a contact between meshes: their open edges.

    An element is at an end of the moving surface if a vertex on an open edge of it is within the
    element's own width of its centre, beside the penetration.
    """

    def __init__(self, law: MeshContact) -> None:
        self._law = law
        self._tree = scipy.spatial.cKDTree(law.border) if len(law.border) else None

    def touched(self, rotation: Array, translation: Array, contact: Resultant) -> Bools:
        """True where loaded elements are at an end of the fixed and moving surface, (2, n)."""
        element = contact.element
        found = np.zeros((2, element.size), dtype=bool)
        found[0] = self._law.outermost[element]
        if self._tree is not None and element.size:
            centre = (self._law.centre[element] - translation) @ rotation
            reach = np.sqrt(contact.area) + contact.penetration
            found[1] = self._tree.query(centre)[0] < reach
        return found
