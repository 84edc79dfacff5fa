"""The page of a study of any kind, and where its results come from."""

DATA_FILES = {
    *MESHES.values(),
    *(
        path
        for name in ACTIVITIES
        for path in activity_files(STUDY, name, ROOT).values()
    ),
}


localrules:
    write_report,


rule write_report:
    input:
        **REPORTED,
        data=sorted(DATA_FILES),
        templates=sorted(map(str, Path(ROOT, "kneewear/report/templates").iterdir())),
    output:
        provenance=PROVENANCE,
        page=report(PAGE, caption="../report/page.rst", category="Page"),
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        settings=settings(STUDY),
        benchmarks=BENCHMARKS,
        logs=LOGS,
    script:
        "../../scripts/write_report.py"
