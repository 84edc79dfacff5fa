"""Cases of any plan without maps: a row of results each, and the analyses of all rows."""

from kneewear.io.study_inputs import case_files, count_cases, plan_file

# First case of each job, and the one after its last.
CASE_BATCHES = {
    name: list(part)
    for name, part in STUDY.batch_ranges(count_cases(STUDY, ROOT)).items()
}
KNEE = [rules.build_geometry.output.knee] if STUDY.has_knee else []
CASE_FILES = [*plan_file(STUDY, ROOT), *case_files(STUDY, ROOT)]


rule plan_cases:
    input:
        file=plan_file(STUDY, ROOT),
    output:
        plan=f"{RESULTS}/cases.csv",
    log:
        f"{LOGS}/plan_cases.log",
    benchmark:
        f"{BENCHMARKS}/plan_cases.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plan_cases", ROOT),
        digests=lambda wildcards: input_digests(CASE_FILES),
        study=STUDY.computed(),
    script:
        "../../scripts/plan_cases.py"


rule evaluate_cases:
    input:
        plan=rules.plan_cases.output.plan,
        knee=KNEE,
        activities=PREPARED,
        files=CASE_FILES,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        results=f"{RESULTS}/cases/{{batch}}.csv",
        kept=f"{RESULTS}/cases/{{batch}}.nc",
    log:
        f"{LOGS}/evaluate_cases/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_cases/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_cases", ROOT),
        digests=lambda wildcards: input_digests(CASE_FILES),
        study=STUDY.computed(),
        # Where cases read files.
        data_folder=STUDY.data_folder if CASE_FILES else ".",
        root=ROOT,
        cases=lambda wildcards: CASE_BATCHES[wildcards.batch],
    script:
        "../../scripts/evaluate_cases.py"


rule check_discretisation:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        discretisation=table("discretisation", "Verification"),
    log:
        f"{LOGS}/check_discretisation.log",
    benchmark:
        f"{BENCHMARKS}/check_discretisation.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(2500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("check_discretisation", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/check_discretisation.py"


# Only where the settings ask for a study of elements.
ELEMENT_TABLES = (
    {
        "convergence": table("element_convergence", "Verification"),
        "sensitivity": table("grid_sensitivity", "Verification"),
    }
    if STUDY.analyses.elements is not None
    else {}
)


rule study_elements:
    input:
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        **ELEMENT_TABLES,
    log:
        f"{LOGS}/study_elements.log",
    benchmark:
        f"{BENCHMARKS}/study_elements.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("study_elements", ROOT),
        study=STUDY.computed()
        | {
            "variables": {},
            "analyses": {"elements": settings(STUDY.analyses)["elements"]},
        },
    script:
        "../../scripts/study_elements.py"


# Only where the settings ask for a settling sequence.
SETTLING_TABLES = (
    {
        "sequence": table("settling", "Verification"),
        "settled": table("settled_pose", "Verification"),
    }
    if STUDY.analyses.settling is not None
    else {}
)


rule settle_component:
    input:
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        **SETTLING_TABLES,
    log:
        f"{LOGS}/settle_component.log",
    benchmark:
        f"{BENCHMARKS}/settle_component.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("settle_component", ROOT),
        study=STUDY.computed()
        | {
            "variables": {},
            "analyses": {"settling": settings(STUDY.analyses)["settling"]},
        },
    script:
        "../../scripts/settle_component.py"


RESULT_FILES = expand(rules.evaluate_cases.output.results, batch=CASE_BATCHES)
KEPT_FILES = expand(rules.evaluate_cases.output.kept, batch=CASE_BATCHES)
SIDE_TABLES = [*ELEMENT_TABLES.values(), *SETTLING_TABLES.values()]
IMPLANT_FILES = CASE_FILES if STUDY.model == "press" else []


include: "analyse.smk"


REPORTED = {
    "figures": [rules.analyse_cases.output.figures],
    "tables": [
        *ANALYSED,
        *(
            [rules.check_discretisation.output.discretisation]
            if STUDY.analyses.discretisation
            else []
        ),
        *SIDE_TABLES,
        *([rules.build_geometry.output.fit_quality] if KNEE else []),
    ],
    "activities": PREPARED,
}


rule cases:
    input:
        [*rules.build_geometry.output, *rules.export_geometry.output] if KNEE else [],
        PREPARED,
        PAGE,
