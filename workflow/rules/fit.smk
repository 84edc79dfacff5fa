"""A fit: constants of the built-in implant and gait with which cells are as published."""


rule fit_constants:
    input:
        published=PUBLISHED,
        defaults=os.path.relpath(f"{ROOT}/config/defaults.yaml"),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        results=f"{RESULTS}/cases/fit.csv",
        points=table("points", "Results"),
        # To be looked through and copied over config/defaults.yaml.
        settings=f"{RESULTS}/defaults.yaml",
    log:
        f"{LOGS}/fit_constants.log",
    benchmark:
        f"{BENCHMARKS}/fit_constants.tsv"
    conda:
        "../envs/kneewear.yaml"
    # Processes that share the points of the search.
    threads: 16
    resources:
        mem_mb=lambda wildcards, threads: 1000 + 500 * threads,
        runtime=SIZES.longer(120),
    params:
        source=source_fingerprint("fit_constants", ROOT, [STUDY.cases.solve.module]),
        study=STUDY.computed(),
    script:
        "../../scripts/fit_constants.py"


RESULT_FILES = [rules.fit_constants.output.results]
KEPT_FILES = []
SIDE_TABLES = IMPLANT_FILES = []


include: "analyse.smk"


REPORTED = {
    "figures": [rules.analyse_cases.output.figures],
    "tables": [*ANALYSED, rules.fit_constants.output.points],
}


rule fit:
    input:
        rules.fit_constants.output,
        PAGE,
