"""Solve every case of a static study (rule solve_static)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.curves import read_poses
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.static import StaticSettings
from kneewear.studies.static.cases import solve_static_cases
from kneewear.studies.static.pairs import KneePairs
from kneewear.studies.static.record import tabulate_static

with job_log(snakemake.log[0], snakemake.threads):
    simulation = SimulationSettings(**snakemake.params.simulation)
    settings = StaticSettings(**snakemake.params.static)
    poses = [read_poses(path, settings.poses) for path in snakemake.input.poses if settings.poses]
    measures = settings.model_dump(include={"distance", "force_direction"})
    implant = netcdf.load(Implant, snakemake.input.knee, "implant")
    record = solve_static_cases(
        knee=KneePairs(implant, TableSettings(**snakemake.params.table), simulation, **measures),
        grid=GridSettings(**snakemake.params.grid),
        settings=settings,
        poses=poses[0] if poses else None,
    )
    netcdf.save(record, snakemake.output.record)
    save_table(tabulate_static(record), snakemake.output.static)
