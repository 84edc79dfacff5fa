"""Build surfaces, element grids and lookup tables of the implant (rule build_geometry)."""

from kneewear.geometry.knee import build_knee
from kneewear.io.csv_tables import save_table
from kneewear.io.deviation import fit_table, save_deviation
from kneewear.io.distance_table import quality_table, save_distance_tables
from kneewear.io.extraction import save_extractions
from kneewear.io.grid import save_grid
from kneewear.io.shape import load_shape
from kneewear.io.surfaces import save_implant
from kneewear.io.table import save_tables
from kneewear.joblog import job_log
from kneewear.settings.implant import GridSettings, ImplantSettings, TableSettings

with job_log(snakemake.log[0], snakemake.threads):
    knee, record = build_knee(
        implant=ImplantSettings(**snakemake.params.implant),
        grid=GridSettings(**snakemake.params.grid),
        coarse_grid=GridSettings(**snakemake.params.coarse_grid),
        table=TableSettings(**snakemake.params.table),
        meshes={name: load_shape(path) for name, path in snakemake.input.items()},
    )
    save_implant(knee.implant, snakemake.output.surfaces)
    save_grid(knee.grid, snakemake.output.grid)
    save_grid(knee.coarse_grid, snakemake.output.coarse_grid)
    save_tables(knee.samples, snakemake.output.table)
    save_distance_tables(knee.distance_tables, snakemake.output.distance_table)
    save_table(quality_table(knee.distance_tables), snakemake.output.distance_quality)
    save_table(fit_table(record.fit_quality), snakemake.output.fit_quality)
    save_deviation(record.fit_quality, snakemake.output.deviation)
    for path in snakemake.output.get("extraction", []):
        save_extractions(record.extractions, path)
