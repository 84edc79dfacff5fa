"""Cases of any plan without maps: a row of results each, and the analyses of all rows."""

from kneewear.study.files import case_files, count_cases, plan_file
from kneewear.study.side_jobs import job_settings, list_chosen_jobs

# First case of each job, the one after its last, and the step.
CASE_BATCHES = {
    name: [*part, 1]
    for name, part in STUDY.batch_ranges(count_cases(STUDY, ROOT)).items()
}
KNEE = [rules.build_geometry.output.knee] if STUDY.has_knee else []
SIDE_PARTS = list_chosen_jobs(STUDY)
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
        tables=[rules.plan_cases.output.plan],
        knee=KNEE,
        activities=PREPARED,
        files=CASE_FILES,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        results=f"{RESULTS}/cases/{{batch}}.csv",
        kept=[f"{RESULTS}/cases/{{batch}}.nc"],
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
        source=source_fingerprint("evaluate_cases", ROOT, model_of(STUDY).modules("compute", "collect")),
        digests=lambda wildcards: input_digests(CASE_FILES),
        # The folder where cases read files.
        study=STUDY.computed()
        | {"data_folder": STUDY.data_folder if CASE_FILES else "."},
        root=ROOT,
        generation=None,
        cases=lambda wildcards: CASE_BATCHES[wildcards.batch],
    script:
        "../../scripts/evaluate_cases.py"


# A job for each, which writes tables of the study.
for part_name, part in SIDE_PARTS.items():

    rule:
        name:
            f"compute_{part_name}"
        input:
            knee=KNEE,
            activities=PREPARED,
            kernels=ancient(rules.compile_kernels.output.marker),
        output:
            **{name: table(name, "Verification") for name in part.tables},
        log:
            f"{LOGS}/compute_{part_name}.log",
        benchmark:
            f"{BENCHMARKS}/compute_{part_name}.tsv"
        conda:
            "../envs/kneewear.yaml"
        resources:
            mem_mb=SIZES.more(part.memory_mb),
            runtime=SIZES.longer(part.minutes),
        params:
            source=source_fingerprint("compute_part", ROOT, ["kneewear.study.side_jobs", *model_of(STUDY).modules("side_jobs")]),
            study=job_settings(STUDY, part_name),
            root=ROOT,
            part=part_name,
            folder=f"{RESULTS}/tables",
        script:
            "../../scripts/compute_part.py"


RESULT_FILES = expand(rules.evaluate_cases.output.results, batch=CASE_BATCHES)
KEPT_FILES = expand(rules.evaluate_cases.output.kept, batch=CASE_BATCHES)
SIDE_TABLES = [
    f"{RESULTS}/tables/{name}.csv"
    for part in SIDE_PARTS.values()
    for name in part.tables
]
IMPLANT_FILES = CASE_FILES if STUDY.draws_designs else []


include: "analyse.smk"


REPORTED = {
    "figures": [rules.analyse_cases.output.figures],
    "tables": [
        *ANALYSED,
        *SIDE_TABLES,
        *([rules.build_geometry.output.fit_quality] if KNEE else []),
    ],
    "activities": PREPARED,
}


rule cases:
    input:
        [*rules.build_geometry.output, *rules.export_files.output] if KNEE else [],
        PREPARED,
        PAGE,
