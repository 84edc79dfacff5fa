"""From implant data to surfaces, element grid and lookup tables."""

MESHES = mesh_files(STUDY, ROOT)
UNUSED_SOURCES = {"parametric", "meshes", "natural"} - {STUDY.implant.source}


rule build_geometry:
    input:
        **MESHES,
    output:
        knee=f"{RESULTS}/geometry/knee.nc",
        distance_quality=f"{RESULTS}/geometry/distance_table.csv",
        fit_quality=f"{RESULTS}/geometry/fit_quality.csv",
        fit=f"{RESULTS}/geometry/fit.nc",
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
        implant=settings(STUDY.implant) | dict.fromkeys(UNUSED_SOURCES),
        grid=settings(STUDY.grid),
        coarse_grid=settings(STUDY.coarse_grid),
        table=settings(STUDY.table),
    script:
        "../../scripts/build_geometry.py"


rule export_surfaces:
    input:
        knee=rules.build_geometry.output.knee,
    output:
        step=f"{RESULTS}/geometry/surfaces.step",
    log:
        f"{LOGS}/export_surfaces.log",
    benchmark:
        f"{BENCHMARKS}/export_surfaces.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("export_surfaces"),
    script:
        "../../scripts/export_surfaces.py"


# Only where the optional extra `cad` is installed.
CAD_FILES = list(rules.export_surfaces.output) if cad_is_installed() else []


rule write_geometry_vtk:
    input:
        knee=rules.build_geometry.output.knee,
    output:
        expand(
            f"{RESULTS}/geometry/vtk/{{part}}.vtp",
            part=["insert", "insert_net", "femoral", "femoral_net", "grid"],
        ),
    log:
        f"{LOGS}/write_geometry_vtk.log",
    benchmark:
        f"{BENCHMARKS}/write_geometry_vtk.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("write_geometry_vtk"),
    script:
        "../../scripts/write_geometry_vtk.py"
