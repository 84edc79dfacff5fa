"""Geometry of every design of a study of designs."""

DESIGNS = design_studies(STUDY)


wildcard_constraints:
    design="|".join(DESIGNS),


def design_meshes(wildcards):
    """Mesh files of a design."""
    return mesh_files(DESIGNS[wildcards.design], ROOT)


use rule build_geometry as build_design with:
    input:
        unpack(design_meshes),
    output:
        knee=f"{RESULTS}/geometry/{{design}}/knee.nc",
        distance_quality=f"{RESULTS}/geometry/{{design}}/distance_table.csv",
        fit_quality=table("fit_quality", "Inputs", "geometry/{design}"),
        fit=f"{RESULTS}/geometry/{{design}}/fit.nc",
    log:
        f"{LOGS}/build_design/{{design}}.log",
    benchmark:
        f"{BENCHMARKS}/build_design/{{design}}.tsv"
    params:
        source=source_fingerprint("build_geometry", ROOT),
        digests=lambda wildcards: input_digests(design_meshes(wildcards).values()),
        implant=lambda wildcards: settings(DESIGNS[wildcards.design].implant),
        grid=settings(STUDY.grid),
        coarse_grid=settings(STUDY.coarse_grid),
        table=settings(STUDY.table),
        tabulate_distances=STUDY.reads_distance_tables,
