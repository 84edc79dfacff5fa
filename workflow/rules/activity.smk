"""Motion and load of one cycle."""

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
