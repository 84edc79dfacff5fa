"""Motion and load of one cycle."""


rule prepare_activity:
    input:
        unpack(lambda wildcards: activity_files(STUDY, wildcards.activity, ROOT)),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/prepare_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_activity/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
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


PREPARED = expand(rules.prepare_activity.output.activity, activity=ACTIVITIES)
