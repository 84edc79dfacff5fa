"""Motion and load of one cycle."""


rule prepare_activity:
    input:
        unpack(lambda wildcards: activity_files(STUDY, wildcards.activity, ROOT)),
    output:
        activity=f"{RESULTS}/activity/{{activity}}.nc",
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        activity=lambda wildcards: settings(
            STUDY.simulated_activities()[wildcards.activity]
        ),
        frames=STUDY.simulation.frames,
        knee=STUDY.implant.knee,
    script:
        "../../scripts/prepare_activity.py"


PREPARED = expand(rules.prepare_activity.output.activity, activity=ACTIVITIES)
