"""A calibration: constants of the built-in implant and gait, fitted to published cells."""


rule calibrate:
    input:
        published=PUBLISHED,
        defaults=os.path.relpath(f"{ROOT}/config/config.yaml"),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        **{
            name: table(name, "Results")
            for name in (
                "comparison",
                "constants",
                "correlations",
                "points",
                "singular_values",
                "trade_off",
            )
        },
        # To be looked through and copied over config/config.yaml.
        settings=f"{RESULTS}/config.yaml",
    log:
        f"{LOGS}/calibrate.log",
    benchmark:
        f"{BENCHMARKS}/calibrate.tsv"
    conda:
        "../envs/kneewear.yaml"
    # Processes that share the points of the search.
    threads: 16
    resources:
        mem_mb=lambda wildcards, threads: 1000 + 500 * threads,
        runtime=SIZES.longer(120),
    params:
        source=source_fingerprint("calibrate", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/calibrate.py"


TABLES = [path for path in rules.calibrate.output if path.endswith(".csv")]


rule plot_calibration:
    input:
        constants=rules.calibrate.output.constants,
        comparison=rules.calibrate.output.comparison,
        correlations=rules.calibrate.output.correlations,
        trade_off=rules.calibrate.output.trade_off,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_calibration.log",
    benchmark:
        f"{BENCHMARKS}/plot_calibration.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_calibration", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_calibration.py"


REPORTED = {"figures": [rules.plot_calibration.output.figures], "tables": TABLES}


rule calibration:
    input:
        rules.calibrate.output,
        PAGE,
