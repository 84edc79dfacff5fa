"""A static study: equilibria, what they owe to the elements, and the page."""

# Only where the settings ask for a study of elements.
ELEMENT_TABLES = (
    {
        "convergence": f"{RESULTS}/tables/element_convergence.csv",
        "sensitivity": f"{RESULTS}/tables/grid_sensitivity.csv",
    }
    if STUDY.static.element_study is not None
    else {}
)


rule solve_static:
    input:
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        record=f"{RESULTS}/simulation/static.nc",
        static=report(
            f"{RESULTS}/tables/static.csv",
            caption="../report/static.rst",
            category="Tables",
        ),
    log:
        f"{LOGS}/solve_static.log",
    benchmark:
        f"{BENCHMARKS}/solve_static.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        source=fingerprint("solve_static"),
        static=settings(STUDY.static) | {"element_study": None},
        simulation=settings(STUDY.simulation),
        grid=settings(STUDY.grid),
        table=settings(STUDY.table),
    script:
        "../../scripts/solve_static.py"


rule study_elements:
    input:
        knee=rules.build_geometry.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        **ELEMENT_TABLES,
    log:
        f"{LOGS}/study_elements.log",
    benchmark:
        f"{BENCHMARKS}/study_elements.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=30,
    params:
        source=fingerprint("study_elements"),
        static=settings(STUDY.static),
        simulation=settings(STUDY.simulation),
        grid=settings(STUDY.grid),
        table=settings(STUDY.table),
        seed=STUDY.seed,
    script:
        "../../scripts/study_elements.py"


rule compare_materials:
    input:
        static=rules.solve_static.output.static,
        published=PUBLISHED,
    output:
        comparison=report(
            f"{RESULTS}/tables/material_comparison.csv",
            caption="../report/material_comparison.rst",
            category="Tables",
        ),
    log:
        f"{LOGS}/compare_materials.log",
    benchmark:
        f"{BENCHMARKS}/compare_materials.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("compare_materials"),
        compare_with_published=STUDY.report.compare_with_published,
    script:
        "../../scripts/compare_materials.py"


TABLES = [
    rules.solve_static.output.static,
    rules.compare_materials.output.comparison,
    *ELEMENT_TABLES.values(),
]


rule plot_static:
    input:
        knee=rules.build_geometry.output.knee,
        record=rules.solve_static.output.record,
        static=rules.solve_static.output.static,
        comparison=rules.compare_materials.output.comparison,
        convergence=[
            ELEMENT_TABLES[name] for name in ELEMENT_TABLES if name == "convergence"
        ],
        sensitivity=[
            ELEMENT_TABLES[name] for name in ELEMENT_TABLES if name == "sensitivity"
        ],
    output:
        figures=report(
            directory(f"{RESULTS}/figures"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_static.log",
    benchmark:
        f"{BENCHMARKS}/plot_static.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("plot_static"),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_static.py"


rule write_report:
    input:
        tables=[*TABLES, rules.build_geometry.output.fit_quality],
        figures=[rules.plot_static.output.figures],
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
    *rules.write_geometry_vtk.output,
    rules.solve_static.output.record,
    *TABLES,
    rules.plot_static.output.figures,
    PROVENANCE,
    rules.write_report.output.page,
]
