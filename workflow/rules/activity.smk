"""Motion and load of one cycle."""


rule prepare_activity:
    input:
        unpack(curve_files),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/prepare_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_activity/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("prepare_activity"),
        activity=lambda wildcards: settings(STUDY.activities[wildcards.activity]),
        frames=STUDY.simulation.frames,
        knee=STUDY.implant.knee,
    script:
        "../../scripts/prepare_activity.py"
