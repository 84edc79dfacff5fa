"""A verification study: the engine against theory, methods against each other, and figures."""

from dataclasses import asdict


rule verify_engine:
    input:
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        verification=table("verification", "Verification"),
        refinement=table("refinement", "Verification"),
        active_elements=table("active_elements", "Verification"),
        sphere_models=table("sphere_models", "Verification"),
    log:
        f"{LOGS}/verify_engine.log",
    benchmark:
        f"{BENCHMARKS}/verify_engine.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("verify_engine", ROOT),
        seed=STUDY.seed,
    script:
        "../../scripts/verify_engine.py"


rule verify_methods:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        grid_comparison=table("grid_comparison", "Verification"),
        distance_correction=table("distance_correction", "Verification"),
        variants=table("variants", "Verification"),
        analyses=table("analyses", "Verification"),
    log:
        f"{LOGS}/verify_methods.log",
    benchmark:
        f"{BENCHMARKS}/verify_methods.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(2500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("verify_methods", ROOT),
        case=asdict(STUDY.case),
        simulation=settings(STUDY.simulation),
        wear=settings(STUDY.wear),
    script:
        "../../scripts/verify_methods.py"


CURVES = {name: activity_files(STUDY, name, ROOT) for name in ACTIVITIES}


rule verify_accuracy:
    input:
        knee=rules.build_geometry.output.knee,
        curves=[path for files in CURVES.values() for path in files.values()],
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        accuracy=table("accuracy", "Verification"),
    log:
        f"{LOGS}/verify_accuracy.log",
    benchmark:
        f"{BENCHMARKS}/verify_accuracy.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(13000),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("verify_accuracy", ROOT),
        study=STUDY.computed(),
        files=CURVES,
    script:
        "../../scripts/verify_accuracy.py"


TABLES = [
    *rules.verify_engine.output,
    *rules.verify_methods.output,
    *rules.verify_accuracy.output,
]


rule plot_verification:
    input:
        tables=TABLES,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_verification.log",
    benchmark:
        f"{BENCHMARKS}/plot_verification.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_verification", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_verification.py"


REPORTED = {
    "figures": [rules.plot_verification.output.figures],
    "tables": [*TABLES, rules.build_geometry.output.fit_quality],
}


rule verification:
    input:
        rules.build_geometry.output,
        rules.export_geometry.output.step,
        PAGE,
