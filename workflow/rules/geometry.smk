"""From implant data to surfaces, element grid and lookup tables."""

MESHES = mesh_files(STUDY, ROOT)
UNUSED_SOURCE = {"parametric": "meshes", "meshes": "parametric"}[STUDY.implant.source]


rule build_geometry:
    input:
        **MESHES,
    output:
        surfaces=f"{RESULTS}/geometry/surfaces.nc",
        grid=f"{RESULTS}/geometry/grid.nc",
        table=f"{RESULTS}/geometry/table.nc",
        distance_table=f"{RESULTS}/geometry/distance_table.nc",
        distance_quality=f"{RESULTS}/geometry/distance_table.csv",
        fit_quality=f"{RESULTS}/geometry/fit_quality.csv",
    log:
        f"{LOGS}/build_geometry.log",
    benchmark:
        f"{BENCHMARKS}/build_geometry.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("build_geometry"),
        implant=settings(STUDY.implant) | {UNUSED_SOURCE: None},
        grid=settings(STUDY.grid),
        table=settings(STUDY.table),
    script:
        "../../scripts/build_geometry.py"
