"""The page of a study of any kind, and where its results come from."""

DATA_FILES = {
    *(
        path
        for one in design_studies(STUDY).values()
        for path in mesh_files(one, ROOT).values()
    ),
    *pose_files(STUDY, ROOT),
    *model_files(STUDY, ROOT).values(),
    *TESTS.values(),
    *(CASE_FILES if TARGET == "cases" else []),
    *(
        path
        for name in ACTIVITIES
        for path in activity_files(STUDY, name, ROOT).values()
    ),
    *(path for one in MEASURED for path in one["files"].values()),
}


rule write_report:
    input:
        **REPORTED,
        data=sorted(DATA_FILES),
        templates=sorted(
            str(path)
            for folder in ("templates", "pages")
            for path in Path(PACKAGE, "report", folder).iterdir()
        ),
    output:
        provenance=PROVENANCE,
        page=report(PAGE, caption="../report/file.rst", category="Page"),
        appendix=APPENDIX,
        records=RECORDS,
        summary=SUMMARY,
    log:
        f"{LOGS}/write_report.log",
    benchmark:
        f"{BENCHMARKS}/write_report.tsv"
    localrule: True
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("write_report", ROOT),
        digests=lambda wildcards: input_digests(sorted(DATA_FILES)),
        page=STUDY.page or STUDY.model,
        settings=settings(STUDY),
        benchmarks=BENCHMARKS,
        logs=LOGS,
    script:
        "../../scripts/write_report.py"


# At the end: a job that still ran would miss its folder.
onsuccess:
    gather_records(BENCHMARKS, LOGS)
