"""A verification study: the engine against theory, methods against each other, and the page."""


rule verify_engine:
    input:
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        verification=report(
            f"{RESULTS}/tables/verification.csv",
            caption="../report/verification.rst",
            category="Tables",
        ),
        refinement=f"{RESULTS}/tables/refinement.csv",
        active_elements=f"{RESULTS}/tables/active_elements.csv",
        sphere_models=f"{RESULTS}/tables/sphere_models.csv",
    log:
        f"{LOGS}/verify_engine.log",
    benchmark:
        f"{BENCHMARKS}/verify_engine.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("verify_engine"),
        seed=STUDY.seed,
    script:
        "../../scripts/verify_engine.py"


rule verify_methods:
    input:
        knee=rules.build_geometry.output.knee,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        grid_comparison=f"{RESULTS}/tables/grid_comparison.csv",
        distance_correction=f"{RESULTS}/tables/distance_correction.csv",
        variants=f"{RESULTS}/tables/variants.csv",
        analyses=f"{RESULTS}/tables/analyses.csv",
    log:
        f"{LOGS}/verify_methods.log",
    benchmark:
        f"{BENCHMARKS}/verify_methods.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=2500,
        runtime=30,
    params:
        source=fingerprint("verify_methods"),
        case=asdict(STUDY.case),
        simulation=settings(STUDY.simulation),
        wear=settings(STUDY.wear),
    script:
        "../../scripts/verify_methods.py"


TABLES = [*rules.verify_engine.output, *rules.verify_methods.output]


rule plot_verification:
    input:
        tables=TABLES,
    output:
        figures=report(
            directory(f"{RESULTS}/figures"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_verification.log",
    benchmark:
        f"{BENCHMARKS}/plot_verification.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("plot_verification"),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_verification.py"


rule write_report:
    input:
        tables=[*TABLES, rules.build_geometry.output.fit_quality],
        figures=[rules.plot_verification.output.figures],
        provenance=PROVENANCE,
        templates=TEMPLATES,
    output:
        page=report(
            f"{RESULTS}/report/index.html",
            caption="../report/page.rst",
            category="Page",
        ),
    log:
        f"{LOGS}/write_report.log",
    benchmark:
        f"{BENCHMARKS}/write_report.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("write_report"),
        kind=STUDY.kind,
        settings=settings(STUDY),
    script:
        "../../scripts/write_report.py"


STUDY_FILES = [
    *rules.build_geometry.output,
    *CAD_FILES,
    *expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
    *TABLES,
    rules.plot_verification.output.figures,
    PROVENANCE,
    rules.write_report.output.page,
]
