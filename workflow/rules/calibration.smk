"""A calibration: constants of the built-in implant and gait, fitted to published cells."""


rule calibrate:
    input:
        published=PUBLISHED,
        defaults=os.path.relpath(f"{ROOT}/config/config.yaml"),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        constants=f"{RESULTS}/tables/constants.csv",
        comparison=f"{RESULTS}/tables/comparison.csv",
        trade_off=f"{RESULTS}/tables/trade_off.csv",
        # To be looked through and copied over config/config.yaml.
        settings=f"{RESULTS}/config.yaml",
    resources:
        mem_mb=1500,
        runtime=120,
    params:
        study=STUDY.computed(),
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
        figures=figures_folder("figures"),
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        captions=CAPTIONS,
    script:
        "../../scripts/plot_calibration.py"


REPORTED = {"figures": [rules.plot_calibration.output.figures], "tables": TABLES}


rule calibration:
    input:
        rules.calibrate.output,
        PAGE,
