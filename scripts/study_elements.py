"""Solve one static case on many grids (rule study_elements)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.static import StaticSettings
from kneewear.studies.static.element_study import study_active_elements, study_divisions
from kneewear.studies.static.pairs import KneePairs

with job_log(snakemake.log[0], snakemake.threads, side=snakemake.output):
    simulation = SimulationSettings(**snakemake.params.simulation)
    settings = StaticSettings(**snakemake.params.static)
    measures = settings.model_dump(include={"distance", "force_direction"})
    implant = netcdf.load(Implant, snakemake.input.knee, "implant")
    case = {
        "knee": KneePairs(implant, TableSettings(**snakemake.params.table), simulation, **measures),
        "grid": GridSettings(**snakemake.params.grid),
        "settings": settings,
    }
    convergence = study_active_elements(**case, seed=snakemake.params.seed)
    save_table(convergence, snakemake.output.convergence)
    save_table(study_divisions(**case), snakemake.output.sensitivity)
