"""Cases of a plan without maps."""


rule plan_cases:
    input:
        file=CHAIN.plan_files,
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
        digests=lambda wildcards: input_digests(CHAIN.case_files),
        study=STUDY.computed(),
    script:
        "../../scripts/plan_cases.py"
