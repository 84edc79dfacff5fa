"""From implant data to the knee model, and its geometry for other programs."""

from kneewear.io.cad import cad_is_installed
from kneewear.io.study_inputs import mesh_files

MESHES = mesh_files(STUDY, ROOT)
UNUSED_SOURCES = {"parametric", "meshes", "natural"} - {STUDY.implant.source}


rule build_geometry:
    input:
        **MESHES,
    output:
        knee=f"{RESULTS}/geometry/knee.nc",
        distance_quality=table("distance_table", "Inputs", "geometry"),
        fit_quality=table("fit_quality", "Inputs", "geometry"),
        fit=f"{RESULTS}/geometry/fit.nc",
    log:
        f"{LOGS}/build_geometry.log",
    benchmark:
        f"{BENCHMARKS}/build_geometry.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("build_geometry", ROOT),
        digests=lambda wildcards: input_digests(MESHES.values()),
        implant=settings(STUDY.implant) | dict.fromkeys(UNUSED_SOURCES),
        grid=settings(STUDY.grid),
        coarse_grid=settings(STUDY.coarse_grid),
        table=settings(STUDY.table),
        tabulate_distances=STUDY.reads_distance_tables,
    script:
        "../../scripts/build_geometry.py"


rule export_geometry:
    input:
        knee=rules.build_geometry.output.knee,
    output:
        vtk=expand(
            f"{RESULTS}/geometry/vtk/{{part}}.vtp",
            part=["insert", "insert_net", "femoral", "femoral_net", "grid"],
        ),
        # Only where the optional extra `cad` is installed.
        step=[f"{RESULTS}/geometry/surfaces.step"] if cad_is_installed() else [],
    log:
        f"{LOGS}/export_geometry.log",
    benchmark:
        f"{BENCHMARKS}/export_geometry.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("export_geometry", ROOT),
    script:
        "../../scripts/export_geometry.py"
