"""Inputs of all studies: knee model, compiled kernels, motion and load of one cycle."""

import hashlib

from kneewear.base.compilation import kernel_folder
from kneewear.io.cad import cad_is_installed
from kneewear.study.files import mesh_files

MESHES = mesh_files(STUDY, ROOT)


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
        implant=settings(STUDY.implant),
        grid=settings(STUDY.grid),
        coarse_grid=settings(STUDY.coarse_grid),
        table=settings(STUDY.table),
        tabulate_distances=STUDY.reads_distance_tables,
    script:
        "../../scripts/build_geometry.py"


# A wear study has its maps beside the geometry: a file per case and life, except for cases that
# failed and cases of large studies.
EXPORTED_MAPS = (
    {
        "maps": [directory(f"{RESULTS}/wear/vtk")],
        "worn": [directory(f"{RESULTS}/wear/worn")],
    }
    if TARGET == "wear"
    else {}
)


rule export_files:
    input:
        knee=rules.build_geometry.output.knee,
        damage=lambda wildcards: MAPPED_DAMAGE if EXPORTED_MAPS else [],
    output:
        **EXPORTED_MAPS,
        vtk=expand(
            f"{RESULTS}/geometry/vtk/{{part}}.vtp",
            part=["insert", "insert_net", "femoral", "femoral_net", "grid"],
        ),
        # Only where the optional extra `cad` is installed and can be loaded.
        step=[f"{RESULTS}/geometry/surfaces.step"] if cad_is_installed() else [],
    log:
        f"{LOGS}/export_files.log",
    benchmark:
        f"{BENCHMARKS}/export_files.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb if EXPORTED_MAPS else SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("export_files", ROOT),
        case=lambda wildcards: CENTRE_CASE["name"] if EXPORTED_MAPS else None,
        cases=lambda wildcards: MAPPED if EXPORTED_MAPS else [],
    script:
        "../../scripts/export_files.py"


# Snakemake does not check jobs behind one that runs, and does not run jobs behind an ancient file:
# if this rule ran again for a marker that exists, no other job of the study would run. So the
# marker is stored with Snakemake's records (a cache of kernels may be shared by several
# directories), and its name contains all that Snakemake compares: the code, the environment, and
# the script and its time.
SCRIPT = Path(ROOT, "scripts/compile_kernels.py")
KERNELS = hashlib.sha256(source_fingerprint("compile_kernels", ROOT).encode())
KERNELS.update(SCRIPT.read_bytes() + str(SCRIPT.stat().st_mtime_ns).encode())
KERNELS.update(Path(ROOT, "workflow/envs/kneewear.yaml").read_bytes())
MARKER = f"{kernel_folder().name}_{KERNELS.hexdigest()[:12]}"


rule compile_kernels:
    output:
        marker=touch(f".snakemake/kernels/{MARKER}"),
    log:
        f"{LOGS}/compile_kernels.log",
    benchmark:
        f"{BENCHMARKS}/compile_kernels.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("compile_kernels", ROOT),
    script:
        "../../scripts/compile_kernels.py"


# Activities whose positions refer to the seat of the components, which follows from contact.
SEATED = [
    name
    for name, block in STUDY.simulated_activities().items()
    if block.zero.refers_to_seat
]
NONE = "(?!)"  # matches no name


rule prepare_activity:
    input:
        unpack(lambda wildcards: activity_files(STUDY, wildcards.activity, ROOT)),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/prepare_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_activity/{{activity}}.tsv"
    wildcard_constraints:
        activity="|".join(name for name in ACTIVITIES if name not in SEATED) or NONE,
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("prepare_activity", ROOT),
        digests=lambda wildcards: input_digests(
            activity_files(STUDY, wildcards.activity, ROOT).values()
        ),
        activity=lambda wildcards: settings(
            STUDY.simulated_activities()[wildcards.activity]
        ),
        frames=STUDY.simulation.frames,
        knee=STUDY.implant.knee,
    script:
        "../../scripts/prepare_activity.py"


rule seat_activity:
    input:
        unpack(lambda wildcards: activity_files(STUDY, wildcards.activity, ROOT)),
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/seat_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/seat_activity/{{activity}}.tsv"
    wildcard_constraints:
        activity="|".join(SEATED) or NONE,
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("seat_activity", ROOT),
        digests=lambda wildcards: input_digests(
            activity_files(STUDY, wildcards.activity, ROOT).values()
        ),
        activity=lambda wildcards: settings(
            STUDY.simulated_activities()[wildcards.activity]
        ),
        simulation=settings(STUDY.simulation),
    script:
        "../../scripts/seat_activity.py"


PREPARED = expand(rules.prepare_activity.output.activity, activity=ACTIVITIES)
