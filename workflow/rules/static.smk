"""A static study: equilibria, their dependence on the elements, and figures."""

# Only where the settings ask for a study of elements.
ELEMENT_TABLES = (
    {
        "convergence": table("element_convergence", "Verification"),
        "sensitivity": table("grid_sensitivity", "Verification"),
    }
    if STUDY.static.element_study is not None
    else {}
)


rule solve_static:
    input:
        knee=rules.build_geometry.output.knee,
        poses=pose_files(STUDY, ROOT),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        record=f"{RESULTS}/simulation/static.nc",
        static=table("static", "Results"),
    log:
        f"{LOGS}/solve_static.log",
    benchmark:
        f"{BENCHMARKS}/solve_static.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("solve_static", ROOT),
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
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("study_elements", ROOT),
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
        comparison=table("material_comparison", "Comparison"),
    log:
        f"{LOGS}/compare_materials.log",
    benchmark:
        f"{BENCHMARKS}/compare_materials.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("compare_materials", ROOT),
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
        tables=TABLES,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_static.log",
    benchmark:
        f"{BENCHMARKS}/plot_static.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_static", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_static.py"


REPORTED = {
    "figures": [rules.plot_static.output.figures],
    "tables": [*TABLES, rules.build_geometry.output.fit_quality],
}


rule static:
    input:
        rules.build_geometry.output,
        rules.export_geometry.output,
        rules.solve_static.output.record,
        PAGE,
