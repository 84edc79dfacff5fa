"""Multi-objective search in generations, each a function of the evaluations before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pymoo.algorithms.moo.nsga2 import NSGA2

Array = NDArray[np.float64]

# Violation of a design without results: below it is any design with results.
_FAILED = 1e30


@dataclass(frozen=True)
class SearchProblem:
    """Bounds of the variables, numbers of objectives and constraints, and size of a generation.

    Parameters
    ----------
    low, high : array, shape (variable,)
        Bounds.
    objectives, constraints : int
        Numbers of them.
    population : int
        Designs of a generation.
    seed : int
        Of all random numbers; each generation has a generator of its own.
    """

    low: Array
    high: Array
    objectives: int
    constraints: int
    population: int
    seed: int


@dataclass(frozen=True)
class Generation:
    """Evaluated designs.

    Parameters
    ----------
    designs : array, shape (design, variable)
        Values of the variables.
    objectives : array, shape (design, objective)
        Results to be minimised; NaN for a design without results.
    violations : array, shape (design, constraint)
        Positive where a constraint is violated, in parts of its limit.
    """

    designs: Array
    objectives: Array
    violations: Array

    @property
    def known(self) -> NDArray[np.bool_]:
        """Designs with results, shape (design,)."""
        return np.all(np.isfinite(self.objectives), axis=1)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Designs with results that violate no constraint, shape (design,)."""
        return np.asarray(self.known & np.all(self.violations <= 0.0, axis=1))


def propose_designs(problem: SearchProblem, earlier: Sequence[Generation]) -> Array:
    """Designs of the next generation, shape (design, variable).

    Parameters
    ----------
    problem : SearchProblem
        What is searched.
    earlier : sequence of Generation
        All generations before it, in order.

    Notes
    -----
    NSGA-II (Deb, Pratap, Agarwal and Meyarivan 2002, IEEE Transactions on Evolutionary Computation
    6, 182-197; from memory) as in pymoo, with its operators: a Latin hypercube at first, then
    simulated binary crossover and polynomial mutation of parents from tournaments. Random numbers
    of a generation follow from the seed and its number alone, so the same evaluations lead to the
    same designs, however often a run was interrupted. Fewer designs than the population are
    returned where no more different ones are found.
    """
    algorithm = _algorithm(problem, earlier)
    proposed = algorithm.ask()
    if proposed is None:
        return np.empty((0, problem.low.size))
    return np.asarray(proposed.get("X"), dtype=float)


def survivors(problem: SearchProblem, earlier: Sequence[Generation]) -> NDArray[np.int64]:
    """Best designs of the last population: those that no other of it dominates.

    Positions among all designs of `earlier`, in order; a feasible design dominates all that are
    not, so these are feasible if any is.
    """
    algorithm = _algorithm(problem, earlier)
    return np.sort(np.asarray(algorithm.opt.get("position"), dtype=np.int64))


def _algorithm(problem: SearchProblem, earlier: Sequence[Generation]) -> NSGA2:
    """Algorithm that has received the earlier generations, about to make the next one."""
    # Half a second that no other job needs.
    from pymoo.algorithms.moo.nsga2 import NSGA2  # noqa: PLC0415
    from pymoo.core.population import Population  # noqa: PLC0415
    from pymoo.core.problem import Problem as Box  # noqa: PLC0415
    from pymoo.core.termination import NoTermination  # noqa: PLC0415
    from pymoo.operators.sampling.lhs import LHS  # noqa: PLC0415

    box = Box(
        n_var=problem.low.size,
        n_obj=problem.objectives,
        n_ieq_constr=problem.constraints + 1,
        xl=problem.low,
        xu=problem.high,
    )
    algorithm = NSGA2(pop_size=problem.population, sampling=LHS())
    algorithm.setup(box, termination=NoTermination(), seed=problem.seed, verbose=False)
    count = 0
    for number, generation in enumerate(earlier):
        algorithm.random_state = np.random.default_rng([problem.seed, number])
        known = generation.known
        failed = np.where(known, 0.0, _FAILED)
        received = Population.new(
            X=generation.designs,
            F=np.where(known[:, None], generation.objectives, 0.0),
            G=np.column_stack([np.nan_to_num(generation.violations), failed]),
        )
        received.set("position", np.arange(count, count + len(received)))
        count += len(received)
        algorithm.advance(infills=received)
    algorithm.random_state = np.random.default_rng([problem.seed, len(earlier)])
    return algorithm
