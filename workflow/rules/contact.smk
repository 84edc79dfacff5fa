"""The contact engine against closed forms."""


rule verify_contact:
    input:
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        verification=f"{RESULTS}/tables/verification.csv",
        refinement=f"{RESULTS}/tables/refinement.csv",
        active_elements=f"{RESULTS}/tables/active_elements.csv",
        sphere_models=f"{RESULTS}/tables/sphere_models.csv",
    log:
        f"{LOGS}/verify_contact.log",
    benchmark:
        f"{BENCHMARKS}/verify_contact.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("verify_contact"),
        seed=STUDY.seed,
    script:
        "../../scripts/verify_contact.py"


rule compare_grids:
    input:
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        comparison=f"{RESULTS}/tables/grid_comparison.csv",
    log:
        f"{LOGS}/compare_grids.log",
    benchmark:
        f"{BENCHMARKS}/compare_grids.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("compare_grids"),
        simulation=settings(STUDY.simulation),
        table=settings(STUDY.table),
    script:
        "../../scripts/compare_grids.py"
