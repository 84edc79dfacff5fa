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
        distance_quality=f"{RESULTS}/geometry/distance_table.csv",
        fit_quality=f"{RESULTS}/geometry/fit_quality.csv",
        fit=f"{RESULTS}/geometry/fit.nc",
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        implant=settings(STUDY.implant) | dict.fromkeys(UNUSED_SOURCES),
        grid=settings(STUDY.grid),
        coarse_grid=settings(STUDY.coarse_grid),
        table=settings(STUDY.table),
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
    resources:
        mem_mb=1000,
        runtime=5,
    script:
        "../../scripts/export_geometry.py"
