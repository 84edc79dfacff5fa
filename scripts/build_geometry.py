"""Build surfaces, element grid and lookup tables of the implant (rule build_geometry)."""

from dataclasses import asdict, fields

import pandas as pd

from kneewear.config import GridSettings, ImplantSettings, TableSettings
from kneewear.geometry import (
    build_distance_table,
    build_grid,
    build_implant,
    tabulate_surface,
)
from kneewear.geometry.fitting import FitQuality
from kneewear.io.csv_tables import save_table
from kneewear.io.distance_table import quality_table, save_distance_tables
from kneewear.io.grid import save_grid
from kneewear.io.mesh import load_mesh
from kneewear.io.surfaces import save_implant
from kneewear.io.table import save_tables
from kneewear.joblog import job_log

with job_log(snakemake.log[0], snakemake.threads):
    table = TableSettings(**snakemake.params.table)
    meshes = {name: load_mesh(path) for name, path in snakemake.input.items()}
    implant, quality = build_implant(ImplantSettings(**snakemake.params.implant), **meshes)
    grid = build_grid(implant, **GridSettings(**snakemake.params.grid).model_dump())
    tables = {
        side: tabulate_surface(surface, table.u_points, table.v_points)
        for side, surface in implant.femoral.items()
    }
    distances = {
        side: build_distance_table(surface, 1e-3 * table.distance_error_um)
        for side, surface in implant.femoral.items()
    }
    save_implant(implant, snakemake.output.surfaces)
    save_grid(grid, snakemake.output.grid)
    save_tables(tables, snakemake.output.table)
    save_distance_tables(distances, snakemake.output.distance_table)
    save_table(quality_table(distances), snakemake.output.distance_quality)
    columns = [field.name for field in fields(FitQuality)]
    fits = pd.DataFrame([asdict(fit) for fit in quality], columns=columns)
    save_table(fits, snakemake.output.fit_quality)
