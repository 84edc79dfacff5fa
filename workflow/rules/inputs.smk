"""Inputs of all studies: knee model, compiled kernels, motion and load of one cycle."""


rule build_geometry:
    input:
        **CHAIN.meshes,
    output:
        knee=CHAIN.knee,
        distance_quality=table(f"{RESULTS}/geometry/distance_table.csv", "Inputs"),
        fit_quality=table(f"{RESULTS}/geometry/fit_quality.csv", "Inputs"),
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
        digests=lambda wildcards: input_digests(CHAIN.meshes.values()),
        implant=block_settings(STUDY.implant),
        grid=block_settings(STUDY.grid),
        coarse_grid=block_settings(STUDY.coarse_grid),
        table=block_settings(STUDY.table),
        tabulate_distances=STUDY.reads_distance_tables,
    script:
        "../../scripts/build_geometry.py"


# Snakemake does not check jobs behind one that runs, and does not run jobs behind an ancient file:
# if this rule ran again for a marker that exists, no other job of the study would run. So the
# marker is stored with Snakemake's records (a cache of kernels may be shared by several
# directories), and its name contains all that Snakemake compares.
rule compile_kernels:
    output:
        marker=touch(f".snakemake/kernels/{kernel_marker(ROOT)}"),
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


rule prepare_activity:
    input:
        unpack(lambda wildcards: CHAIN.activity_files[wildcards.activity]),
        # Of activities that refer to the dwell pose of the components, which follows from contact; of
        # others the side of the knee is that of the settings.
        knee=rules.build_geometry.output.knee if CHAIN.uses_knee else [],
        kernels=(
            ancient(rules.compile_kernels.output.marker) if CHAIN.at_dwell_pose else []
        ),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/prepare_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_activity/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(5),
    params:
        source=lambda wildcards: source_fingerprint(
            "prepare_activity", ROOT, CHAIN.dwell_pose_modules(wildcards.activity)
        ),
        digests=lambda wildcards: input_digests(
            CHAIN.activity_files[wildcards.activity].values()
        ),
        files=lambda wildcards: list(CHAIN.activity_files[wildcards.activity]),
        activity=lambda wildcards: block_settings(
            STUDY.simulated_activities()[wildcards.activity]
        ),
        frames=STUDY.simulation.frames,
        knee=STUDY.implant.knee,
        dwell_pose=lambda wildcards: CHAIN.dwell_pose(wildcards.activity),
    script:
        "../../scripts/prepare_activity.py"
