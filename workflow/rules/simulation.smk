"""Contact over one cycle, a batch of cases per job."""

from dataclasses import asdict

from kneewear.settings.activity import prescribes_motion
from kneewear.settings.cases import centre_case, shallowest_case
from kneewear.settings.study import apply_case, overridden_activities

BATCHES = {name: list(map(asdict, cases)) for name, cases in STUDY.batches().items()}
# Settings of the cases of each batch, which differ in thickness and mass only.
OWN = {
    name: apply_case(STUDY, cases[0]) if cases[0].overrides else STUDY
    for name, cases in STUDY.batches().items()
}
OWN_ACTIVITIES = {
    name: overridden_activities(STUDY, cases[0])
    for name, cases in STUDY.batches().items()
}
# The case in the middle of the design is shown in detail, with the first of all overrides.
FIRST_CASES = STUDY.variants()[0]
CENTRE_CASE = asdict(FIRST_CASES[centre_case(FIRST_CASES)])
CENTRE_BATCH = next(name for name, cases in BATCHES.items() if CENTRE_CASE in cases)
# Motions whose place on the bearing is not known beforehand: from files, or at the seat.
PLACED = [
    name
    for name, block in STUDY.simulated_activities().items()
    if block.source == "file" or block.zero.refers_to_seat or STUDY.implant.meshes
]
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
    log:
        f"{LOGS}/simulate_contact/{{activity}}/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/simulate_contact/{{activity}}/{{batch}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.simulation_mb,
        runtime=SIZES.simulation_minutes,
    params:
        source=source_fingerprint("simulate_contact", ROOT),
        simulation=lambda wildcards: settings(OWN[wildcards.batch].simulation),
        activity=lambda wildcards: OWN_ACTIVITIES[wildcards.batch].get(
            wildcards.activity
        ),
        cases=lambda wildcards: BATCHES[wildcards.batch],
    script:
        "../../scripts/simulate_contact.py"


# All activities of a batch follow each other.
HISTORIES = expand(
    rules.simulate_contact.output.history, batch=BATCHES, activity=ACTIVITIES
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
        trials=table("signs", "Inputs", "simulation/{activity}", activity="{activity}"),
    log:
        f"{LOGS}/check_signs/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_signs/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("check_signs", ROOT),
        simulation=settings(OWN[CENTRE_BATCH].simulation),
        case=CENTRE_CASE,
        reference=lambda wildcards: STUDY.activities[
            wildcards.activity
        ].motion.reference_posterior_mm,
    script:
        "../../scripts/check_signs.py"


rule check_placement:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        fit=rules.build_geometry.output.fit,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        placement=table(
            "placement", "Inputs", "simulation/{activity}", activity="{activity}"
        ),
    log:
        f"{LOGS}/check_placement/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_placement/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("check_placement", ROOT),
        simulation=settings(OWN[CENTRE_BATCH].simulation),
        cases=[CENTRE_CASE, asdict(shallowest_case(FIRST_CASES))],
    script:
        "../../scripts/check_placement.py"
