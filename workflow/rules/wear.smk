"""A wear study: contact, wear and creep over a life, tables and figures."""


include: "simulation.smk"


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


rule export_damage:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=WITH_MAPS),
    output:
        # A file per case and life, except for cases that failed and those of large studies.
        maps=directory(f"{RESULTS}/wear/vtk"),
        worn=directory(f"{RESULTS}/wear/worn"),
    log:
        f"{LOGS}/export_damage.log",
    benchmark:
        f"{BENCHMARKS}/export_damage.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb,
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("export_damage", ROOT),
        case=CENTRE_CASE["name"],
        cases=MAPPED,
    script:
        "../../scripts/export_damage.py"


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


rule tabulate_results:
    input:
        knee=rules.build_geometry.output.knee,
        damage=DAMAGE,
        histories=HISTORIES,
        published=PUBLISHED if STUDY.report.compare_with_published else [],
        tests=list(TESTS.values()),
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
            "blocks": STUDY.report.spread.blocks,
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
        uncertainty=settings(CONSTANTS) if CONSTANTS else {},
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
        *twin_table(STUDY, ROOT),
    ],
    "activities": PREPARED,
    "benchmarks": BENCHMARK_TABLES,
    "calibration": CALIBRATION_RECORD,
    "signs": [
        *expand(rules.check_signs.output.trials, activity=SIGNED),
        *expand(rules.check_placement.output.placement, activity=PLACED),
    ],
    "view": [rules.build_insert_view.output.view],
}


# Results of each case are named, so that one that was set aside or lost is computed again.
rule wear:
    input:
        rules.build_geometry.output,
        rules.export_geometry.output,
        HISTORIES,
        DAMAGE,
        rules.export_damage.output,
        PAGE,
