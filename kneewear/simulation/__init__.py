"""Contact simulations of the built-in or any other activity."""

from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.history import Case, ContactHistory
from kneewear.simulation.static import StaticEquilibrium, solve_static
from kneewear.simulation.warm_up import compile_kernels

__all__ = [
    "Case",
    "ContactHistory",
    "StaticEquilibrium",
    "compile_kernels",
    "simulate_cases",
    "solve_static",
]
