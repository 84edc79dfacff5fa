"""Build surfaces, element grid and lookup tables of the implant (rule build_geometry)."""

from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant, extract_bearings
from kneewear.geometry.table import tabulate_surface
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
    table = TableSettings(**snakemake.params.table)
    meshes = {name: load_shape(path) for name, path in snakemake.input.items()}
    settings = ImplantSettings(**snakemake.params.implant)
    implant, quality = build_implant(settings, **meshes)
    for name in ("grid", "coarse_grid"):
        elements = GridSettings(**snakemake.params[name])
        save_grid(build_grid(implant, **elements.model_dump()), snakemake.output[name])
    tables = {
        side: tabulate_surface(surface, table.u_points, table.v_points)
        for side, surface in implant.femoral.items()
    }
    distances = {
        side: build_distance_table(surface, 1e-3 * table.distance_error_um)
        for side, surface in implant.femoral.items()
    }
    save_implant(implant, snakemake.output.surfaces)
    save_tables(tables, snakemake.output.table)
    save_distance_tables(distances, snakemake.output.distance_table)
    save_table(quality_table(distances), snakemake.output.distance_quality)
    save_table(fit_table(quality), snakemake.output.fit_quality)
    save_deviation(quality, snakemake.output.deviation)
    for path in snakemake.output.get("extraction", []):
        parts = (meshes[name] for name in ("insert_mesh", "femoral_mesh"))
        save_extractions(extract_bearings(settings, *parts), path)
