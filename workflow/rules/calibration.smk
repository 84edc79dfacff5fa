"""Constants of the built-in implant and gait, fitted to the declared published cells."""

DEFAULTS = f"{ROOT}/config/config.yaml"


rule calibrate:
    input:
        published=PUBLISHED,
        defaults=DEFAULTS,
    output:
        constants=f"{RESULTS}/tables/constants.csv",
        comparison=f"{RESULTS}/tables/comparison.csv",
        trade_off=f"{RESULTS}/tables/trade_off.csv",
        # To be looked through and copied over config/config.yaml.
        settings=f"{RESULTS}/config.yaml",
    log:
        f"{LOGS}/calibrate.log",
    benchmark:
        f"{BENCHMARKS}/calibrate.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=120,
    params:
        source=fingerprint("calibrate"),
        study=settings(STUDY),
    script:
        "../../scripts/calibrate.py"


TABLES = [
    rules.calibrate.output.constants,
    rules.calibrate.output.comparison,
    rules.calibrate.output.trade_off,
]


rule plot_calibration:
    input:
        constants=rules.calibrate.output.constants,
        comparison=rules.calibrate.output.comparison,
        trade_off=rules.calibrate.output.trade_off,
    output:
        figures=report(
            directory(f"{RESULTS}/figures"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
        ),
    log:
        f"{LOGS}/plot_calibration.log",
    benchmark:
        f"{BENCHMARKS}/plot_calibration.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("plot_calibration"),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_calibration.py"


rule write_report:
    input:
        tables=TABLES,
        figures=[rules.plot_calibration.output.figures],
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
    *TABLES,
    rules.calibrate.output.settings,
    rules.plot_calibration.output.figures,
    PROVENANCE,
    rules.write_report.output.page,
]
