"""Bundles over meshes: forces, reaction and energy beside a bundle over an exact sphere."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.geometry.meshes import TriangleMesh
from kneewear.mechanics.bodies import BodyForces, BodyPoses, UnknownBodyError
from kneewear.multibody.equilibrium import solve_equilibrium
from kneewear.multibody.system import Body, System
from kneewear.tissue.bundles import Bundles, WrappedBundles
from kneewear.tissue.laws import constant, linear
from kneewear.tissue.muscle_string import MeshObstacle
from kneewear.tissue.surface_bundles import SurfaceBundles, Wrapping
from kneewear.tissue.wrapping import WrapObject
from tests.geometry.solids import sphere_mesh
