"""Contact simulations of the built-in or any other activity."""

from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.drive import Drive
from kneewear.simulation.forward import Integrator, Trajectory, solve_forward
from kneewear.simulation.history import Case, ContactHistory, Failure
from kneewear.simulation.settling import Settled, settle
from kneewear.simulation.static import StaticEquilibrium, solve_static
from kneewear.simulation.warm_up import compile_kernels

__all__ = [
    "Case",
    "ContactHistory",
    "Drive",
    "Failure",
    "Integrator",
    "Settled",
    "StaticEquilibrium",
    "Trajectory",
    "compile_kernels",
    "settle",
    "simulate_cases",
    "solve_forward",
    "solve_static",
]
