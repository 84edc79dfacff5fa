"""Build surfaces, element grids and lookup tables of the implant (rule build_geometry)."""

from kneewear.geometry.fit_quality import tabulate_fit
from kneewear.geometry.knee import assemble_knee, tabulate_distance_tables
from kneewear.geometry.settings import GridSettings, TableSettings, parse_implant
from kneewear.io.documents import save_table
from kneewear.io.shapes import load_shape
from kneewear.runs.joblog import job_log
from kneewear.study import netcdf

with job_log(snakemake.log[0]):
    knee, record = assemble_knee(
        implant=parse_implant(snakemake.params.implant),
        grid=GridSettings(**snakemake.params.grid),
        coarse_grid=GridSettings(**snakemake.params.coarse_grid),
        table=TableSettings(**snakemake.params.table),
        tabulate_distances=snakemake.params.tabulate_distances,
        meshes={name: load_shape(path) for name, path in snakemake.input.items()},
    )
    netcdf.save(knee, snakemake.output.knee)
    netcdf.save(record, snakemake.output.fit)
    save_table(tabulate_distance_tables(knee), snakemake.output.distance_quality)
    save_table(tabulate_fit(record), snakemake.output.fit_quality)
