"""The femoral component on the insert as a system of one body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.mechanics.loads import FEMORAL, Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.rotations import body_three_123
from kneewear.mechanics.springs import Spring
from kneewear.motion.actions import Contact
from kneewear.motion.system import Action, Body, System

Array = NDArray[np.float64]

INSERT = "insert"
CONTACT = "contact"


def contact_model(pairs: Sequence[ContactPair], layers: Sequence[ElasticLayer]) -> ContactModel:
    """Contact of pairs without names; results are in the order of the pairs."""
    return ContactModel(
        {str(number): pair for number, pair in enumerate(pairs)},
        {str(number): layer for number, layer in enumerate(layers)},
    )


def component_system(
    pairs: Sequence[ContactPair],
    layers: Sequence[ElasticLayer],
    loads: Sequence[Load] = (),
    springs: Sequence[Spring] = (),
    body: RigidBody | None = None,
    model: ContactModel | None = None,
) -> System:
    """The femoral component in the frame of the insert, with all that acts on it.

    Its contact, if there are pairs, is named "contact"; `model` is the one of the pairs, if it was
    built. ValueError if there are not as many layers.
    """
    actions: dict[str, Action | Load | Spring] = {}
    if pairs or layers:
        rated = any(pair.has_friction for pair in pairs)
        model = model or contact_model(pairs, layers)
        actions[CONTACT] = Contact(INSERT, FEMORAL, model, rated)
    actions |= {f"load {number + 1}": load for number, load in enumerate(loads)}
    actions |= {f"spring {number + 1}": spring for number, spring in enumerate(springs)}
    return System(INSERT, (Body(FEMORAL, inertia=body),), actions)


def free_coordinates(names: Sequence[str]) -> list[str]:
    """Names in the system of coordinates of the component."""
    return [f"{FEMORAL}.{name}" for name in names]


def contacts_at(system: System, pose: Array) -> tuple[Resultant, ...]:
    """Contact of each pair at a pose (6) of the component, at rest."""
    if system.contact is None:
        return ()
    return tuple(system.contact[1].evaluate(body_three_123(pose[3:]), pose[:3]).values())
