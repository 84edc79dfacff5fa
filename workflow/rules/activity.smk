"""Motion and load of one cycle."""


def activity_inputs(wildcards):
    """Curve files, and what the seat follows from where a motion refers to it."""
    found = dict(activity_files(STUDY, wildcards.activity, ROOT))
    if STUDY.simulated_activities()[wildcards.activity].zero.refers_to_seat:
        found["knee"] = f"{RESULTS}/geometry/knee.nc"
    return found


rule prepare_activity:
    input:
        unpack(activity_inputs),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    log:
        f"{LOGS}/prepare_activity/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare_activity/{{activity}}.tsv"
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
        # Of the seat; other motions do not depend on it.
        simulation=lambda wildcards: (
            settings(STUDY.simulation)
            if "knee" in activity_inputs(wildcards)
            else None
        ),
    script:
        "../../scripts/prepare_activity.py"


PREPARED = expand(rules.prepare_activity.output.activity, activity=ACTIVITIES)
