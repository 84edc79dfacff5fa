"""Pictures and the page."""

PUBLISHED_TABLES = (
    list(rules.compare_published.output) if STUDY.report.compare_with_published else []
)
TABLES = [
    rules.summarize_cases.output.cases,
    *rules.fit_regression.output,
    rules.correlate_pressure.output.correlation,
    rules.flag_validity.output.validity,
    rules.list_failures.output.failures,
    *PUBLISHED_TABLES,
]
# What `make benchmark` wrote last, if it was run.
BENCHMARK_TABLES = sorted(map(str, Path("results/benchmarks").glob("*.csv")))
DRAWN_BENCHMARKS = [
    path for path in BENCHMARK_TABLES if Path(path).stem in ("distance_methods", "cost")
]
# What fewer constants of the built-in implant and gait would cost.
CALIBRATION_RECORD = (
    [f"{ROOT}/config/calibration/trade_off.csv"]
    if STUDY.report.compare_with_published and STUDY.implant.source == "parametric"
    else []
)


rule plot_method:
    input:
        knee=rules.build_geometry.output.knee,
        fit=rules.build_geometry.output.fit,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        tables=DRAWN_BENCHMARKS,
        calibration=CALIBRATION_RECORD,
    output:
        # Which figures there are depends on the study.
        figures=report(
            directory(f"{RESULTS}/figures/method"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_method.log",
    benchmark:
        f"{BENCHMARKS}/plot_method.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=15,
    params:
        source=fingerprint("plot_method"),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_method.py"


rule plot_contact:
    input:
        knee=rules.build_geometry.output.knee,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        cycles=expand(rules.accumulate_wear.output.cycles, batch=BATCHES),
        histories=expand(
            rules.simulate_contact.output.history,
            activity=ACTIVITIES,
            batch=CENTRE_BATCH,
        ),
    output:
        figures=report(
            directory(f"{RESULTS}/figures/contact"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_contact.log",
    benchmark:
        f"{BENCHMARKS}/plot_contact.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=comparison_mb,
        runtime=15,
    params:
        source=fingerprint("plot_contact"),
        case=CENTRE_CASE["name"],
        captions=CAPTIONS,
    script:
        "../../scripts/plot_contact.py"


rule plot_results:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=BATCHES),
        tables=[
            rules.summarize_cases.output.cases,
            *rules.fit_regression.output,
            *PUBLISHED_TABLES[:1],
        ],
    output:
        figures=report(
            directory(f"{RESULTS}/figures/results"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_results.log",
    benchmark:
        f"{BENCHMARKS}/plot_results.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=maps_mb,
        runtime=15,
    params:
        source=fingerprint("plot_results"),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_results.py"


rule build_insert_view:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=BATCHES),
        cycles=expand(rules.accumulate_wear.output.cycles, batch=BATCHES),
        histories=expand(
            rules.simulate_contact.output.history, activity=ACTIVITIES, batch=BATCHES
        ),
    output:
        view=f"{RESULTS}/report/insert_view.json",
    log:
        f"{LOGS}/build_insert_view.log",
    benchmark:
        f"{BENCHMARKS}/build_insert_view.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=view_mb,
        runtime=15,
    params:
        source=fingerprint("build_insert_view"),
    script:
        "../../scripts/build_insert_view.py"


FIGURES = [
    rules.plot_method.output.figures,
    rules.plot_contact.output.figures,
    rules.plot_results.output.figures,
]


rule write_report:
    input:
        tables=[*TABLES, rules.build_geometry.output.fit_quality],
        benchmarks=BENCHMARK_TABLES,
        calibration=CALIBRATION_RECORD,
        figures=FIGURES,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        signs=expand(rules.check_signs.output.trials, activity=SIGNED),
        provenance=PROVENANCE,
        view=[rules.build_insert_view.output.view],
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
    *rules.write_vtk.output,
    *rules.write_geometry_vtk.output,
    *TABLES,
    *FIGURES,
    PROVENANCE,
    rules.write_report.output.page,
]
