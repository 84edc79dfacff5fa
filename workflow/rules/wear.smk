"""A wear study: contact, wear and creep over a life, tables and figures."""

from dataclasses import asdict

from kneewear.activity.settings import prescribes_motion
from kneewear.base.cases import centre_case, shallowest_case
from kneewear.study.settings import apply_case, overridden_activities

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
    if block.source == "file"
    or block.zero.refers_to_seat
    or STUDY.implant.source == "meshes"
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


rule check_motion:
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
        f"{LOGS}/check_motion/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_motion/{{activity}}.tsv"
    wildcard_constraints:
        activity="|".join(name for name in PLACED if name not in SIGNED) or NONE,
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("check_motion", ROOT),
        simulation=settings(OWN[CENTRE_BATCH].simulation),
        cases=[CENTRE_CASE, asdict(shallowest_case(FIRST_CASES))],
        reference=lambda wildcards: (
            getattr(
                STUDY.activities[wildcards.activity].motion,
                "reference_posterior_mm",
                None,
            )
            if wildcards.activity in SIGNED
            else None
        ),
    script:
        "../../scripts/check_motion.py"


use rule check_motion as check_signs with:
    output:
        placement=rules.check_motion.output.placement,
        trials=[
            table("signs", "Inputs", "simulation/{activity}", activity="{activity}")
        ],
    log:
        f"{LOGS}/check_signs/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_signs/{{activity}}.tsv"
    wildcard_constraints:
        activity="|".join(SIGNED) or NONE,


rule accumulate_wear:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        histories=expand(
            rules.simulate_contact.output.history,
            activity=ACTIVITIES,
            allow_missing=True,
        ),
    output:
        damage=f"{RESULTS}/wear/{{batch}}.nc",
    log:
        f"{LOGS}/accumulate_wear/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/accumulate_wear/{{batch}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.wear_mb,
        runtime=SIZES.wear_minutes,
    params:
        source=source_fingerprint("accumulate_wear", ROOT),
        wear=lambda wildcards: settings(OWN[wildcards.batch].wear),
        simulation=lambda wildcards: settings(OWN[wildcards.batch].simulation),
        activities=lambda wildcards: OWN_ACTIVITIES[wildcards.batch],
    script:
        "../../scripts/accumulate_wear.py"


DAMAGE = expand(rules.accumulate_wear.output.damage, batch=BATCHES)
MAPPED = STUDY.cases_with_maps()
# Batches that hold these cases.
WITH_MAPS = [
    name
    for name, cases in BATCHES.items()
    if not {case["name"] for case in cases}.isdisjoint(MAPPED)
]
MAPPED_DAMAGE = expand(rules.accumulate_wear.output.damage, batch=WITH_MAPS)


RESULT_TABLES = {
    "Results": ["cases", "validity", "failures", "wear_over_cycles"],
    "Regression": [
        "regression",
        "regression_models",
        "regression_points",
        "correlation",
    ],
    "Comparison": [
        *(["simulator_tests"] if TESTS else []),
        *(
            [
                "comparison",
                "regression_comparison",
                "correlation_comparison",
                "statements",
                "prediction",
            ]
            if STUDY.report.compare_with_published
            else []
        ),
    ],
}


# Predictions are stored, with a digest, before a job reads measured wear.
rule freeze_prediction:
    input:
        knee=rules.build_geometry.output.knee,
        damage=DAMAGE,
    output:
        prediction=f"{RESULTS}/blind/prediction.csv",
        digest=f"{RESULTS}/blind/prediction.json",
    log:
        f"{LOGS}/freeze_prediction.log",
    benchmark:
        f"{BENCHMARKS}/freeze_prediction.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb,
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("freeze_prediction", ROOT),
        wear=[settings(study.wear) for study in OWN.values()],
    script:
        "../../scripts/freeze_prediction.py"


rule tabulate_results:
    input:
        knee=rules.build_geometry.output.knee,
        damage=DAMAGE,
        histories=HISTORIES,
        published=PUBLISHED if STUDY.report.compare_with_published else [],
        tests=list(TESTS.values()),
        frozen=list(rules.freeze_prediction.output) if TESTS else [],
    output:
        **{
            name: table(name, category)
            for category, names in RESULT_TABLES.items()
            for name in names
        },
    log:
        f"{LOGS}/tabulate_results.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_results.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb,
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("tabulate_results", ROOT),
        activities=len(ACTIVITIES),
        wear=[settings(study.wear) for study in OWN.values()],
        compare_with_published=STUDY.report.compare_with_published,
        tests={
            name: settings(test) | {"path": TESTS[name]}
            for name, test in STUDY.report.simulator_tests.items()
        },
        digests=lambda wildcards: input_digests(TESTS.values()),
        life=settings(STUDY.wear),
        pressure_limit=STUDY.report.pressure_limit_mpa,
        avg_pressure_limit=STUDY.report.avg_pressure_limit_mpa,
    script:
        "../../scripts/tabulate_results.py"


rule vary_models:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        histories=CENTRE_HISTORIES,
    output:
        spread=table("model_spread", "Results"),
    log:
        f"{LOGS}/vary_models.log",
    benchmark:
        f"{BENCHMARKS}/vary_models.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.batch_mb,
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("vary_models", ROOT),
        case=CENTRE_CASE["name"],
        wear=settings(OWN[CENTRE_BATCH].wear),
        # Equilibria: a surface that follows its wear is simulated again for every block.
        simulation=settings(OWN[CENTRE_BATCH].simulation) | {"analysis": "quasi_static"},
        activities=OWN_ACTIVITIES[CENTRE_BATCH],
        spread={
            # On a coupled layer few blocks are refused.
            "blocks": (
                STUDY.report.spread.blocks
                if OWN[CENTRE_BATCH].simulation.contact == "foundation"
                else 1
            ),
            "factors": STUDY.report.spread.wear_factors_mm3_per_n_m,
        },
    script:
        "../../scripts/vary_models.py"


rule sample_constants:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        constants=table("uncertain_constants", "Results"),
        samples=table("constant_samples", "Results"),
        intervals=table("constant_intervals", "Results"),
    log:
        f"{LOGS}/sample_constants.log",
    benchmark:
        f"{BENCHMARKS}/sample_constants.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("sample_constants", ROOT),
        study=STUDY.computed(),
        case=CENTRE_CASE,
        activities=OWN_ACTIVITIES[CENTRE_BATCH],
        constants={name: settings(constant) for name, constant in CONSTANTS.items()},
        samples=STUDY.report.spread.samples,
    script:
        "../../scripts/sample_constants.py"


TABLES = [
    *rules.tabulate_results.output,
    rules.vary_models.output.spread,
    *(rules.sample_constants.output if CONSTANTS else []),
]


include: "figures.smk"


REPORTED = {
    "figures": [
        rules.plot_method.output.figures,
        rules.plot_contact.output.figures,
        rules.plot_results.output.figures,
    ],
    "tables": [
        *TABLES,
        rules.build_geometry.output.fit_quality,
        *comparison_table(STUDY, ROOT),
    ],
    "activities": PREPARED,
    "benchmarks": BENCHMARK_TABLES,
    "calibration": CALIBRATION_RECORD,
    "signs": [
        *expand(rules.check_signs.output.trials, activity=SIGNED),
        *expand(rules.check_motion.output.placement, activity=PLACED),
    ],
    "view": [rules.plot_contact.output.view],
}


# Results of each case are named, so that one that was set aside or lost is computed again.
rule wear:
    input:
        rules.build_geometry.output,
        rules.export_files.output,
        HISTORIES,
        DAMAGE,
        PAGE,
