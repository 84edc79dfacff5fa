"""Figures of a wear study, and what its interactive view shows."""

# What `make benchmark` wrote last, if it was run.
BENCHMARK_TABLES = sorted(map(str, Path("results/benchmarks").glob("*.csv")))
# What fewer constants of the built-in implant and gait would cost.
CALIBRATION_RECORD = (
    [os.path.relpath(f"{ROOT}/config/evidence/calibration/trade_off.csv")]
    if STUDY.report.compare_with_published and STUDY.implant.source == "parametric"
    else []
)


rule plot_method:
    input:
        knee=rules.build_geometry.output.knee,
        fit=rules.build_geometry.output.fit,
        activities=PREPARED,
        tables=[
            path
            for path in BENCHMARK_TABLES
            if Path(path).stem in ("distance_methods", "cost")
        ],
        calibration=CALIBRATION_RECORD,
        measured=[path for one in MEASURED for path in one["files"].values()],
    output:
        figures=figures_folder("figures/method"),
    log:
        f"{LOGS}/plot_method.log",
    benchmark:
        f"{BENCHMARKS}/plot_method.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("plot_method", ROOT),
        drawn=DRAWN,
        digests=lambda wildcards: input_digests(
            path for one in MEASURED for path in one["files"].values()
        ),
        frames=STUDY.simulation.frames,
        measured=MEASURED,
        thickness=CENTRE_CASE["thickness"],
    script:
        "../../scripts/plot_method.py"


rule plot_contact:
    input:
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        histories=expand(
            rules.simulate_contact.output.history, batch=WITH_MAPS, activity=ACTIVITIES
        ),
        centre=CENTRE_HISTORIES,
        damage=expand(rules.accumulate_wear.output.damage, batch=WITH_MAPS),
    output:
        figures=figures_folder("figures/contact"),
        view=f"{RESULTS}/report/insert_view.json",
    log:
        f"{LOGS}/plot_contact.log",
    benchmark:
        f"{BENCHMARKS}/plot_contact.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.view_mb,
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("plot_contact", ROOT),
        drawn=DRAWN,
        case=CENTRE_CASE["name"],
        cases=MAPPED,
        limits=[STUDY.report.pressure_limit_mpa, STUDY.report.avg_pressure_limit_mpa],
        # Of the coupled layer, whose pressures are in balance with stresses below them.
        poisson_ratio=(
            OWN[CENTRE_BATCH].simulation.poisson_ratio
            if OWN[CENTRE_BATCH].simulation.contact == "coupled_layer"
            else None
        ),
        activities=OWN_ACTIVITIES[CENTRE_BATCH],
    script:
        "../../scripts/plot_contact.py"


rule plot_results:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=WITH_MAPS),
        tables=TABLES,
    output:
        figures=figures_folder("figures/results"),
    log:
        f"{LOGS}/plot_results.log",
    benchmark:
        f"{BENCHMARKS}/plot_results.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb,
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("plot_results", ROOT),
        drawn=DRAWN,
        cases=MAPPED,
    script:
        "../../scripts/plot_results.py"
