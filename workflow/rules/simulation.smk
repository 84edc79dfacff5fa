"""Contact over one cycle, a batch of cases per job."""

from dataclasses import asdict

from kneewear.settings.activity import prescribes_motion

BATCHES = {name: list(map(asdict, cases)) for name, cases in STUDY.batches().items()}
# The case in the middle of the design is shown in detail.
CENTRE_CASE = asdict(STUDY.case_list()[len(STUDY.case_list()) // 2])
CENTRE_BATCH = next(name for name, cases in BATCHES.items() if CENTRE_CASE in cases)
# Motions from files whose signs may be wrong; forces have none to try.
SIGNED = [
    name
    for name, block in STUDY.simulated_activities().items()
    if prescribes_motion(block)
]


rule simulate_contact:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        # Jobs wait for the compiled kernels but are not run again for them.
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        history=f"{RESULTS}/simulation/{{activity}}/{{batch}}.nc",
    priority: LONGEST_WAY
    resources:
        mem_mb=SIZES.simulation_mb,
        runtime=SIZES.simulation_minutes,
    params:
        simulation=settings(STUDY.simulation),
        cases=lambda wildcards: BATCHES[wildcards.batch],
    script:
        "../../scripts/simulate_contact.py"


HISTORIES = expand(
    rules.simulate_contact.output.history, activity=ACTIVITIES, batch=BATCHES
)
CENTRE_HISTORIES = expand(
    rules.simulate_contact.output.history, activity=ACTIVITIES, batch=CENTRE_BATCH
)


rule check_signs:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        trials=f"{RESULTS}/simulation/{{activity}}/signs.csv",
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        simulation=settings(STUDY.simulation),
        case=CENTRE_CASE,
        reference=lambda wildcards: STUDY.activities[
            wildcards.activity
        ].motion.reference_posterior_mm,
    script:
        "../../scripts/check_signs.py"
