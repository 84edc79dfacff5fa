"""The page of a study of any kind, and where its results come from."""


rule write_report:
    input:
        **CHAIN.reported,
        figures=CHAIN.figure_folders,
        data=CHAIN.data_files,
        templates=sorted(
            str(path)
            for folder in ("templates", "pages")
            for path in Path(PACKAGE, "report", folder).iterdir()
        ),
    output:
        provenance=f"{RESULTS}/provenance.json",
        page=report(PAGE, caption="../report/file.rst", category="Page"),
        appendix=f"{RESULTS}/report/appendix.html",
        records=f"{RESULTS}/report/summary.json",
        summary=f"{RESULTS}/report/summary.pdf",
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
        source=source_fingerprint("write_report", ROOT, CHAIN.page_modules),
        digests=lambda wildcards: input_digests(CHAIN.data_files),
        page=STUDY.page or STUDY.model,
        settings=block_settings(STUDY),
        curves=CHAIN.activity_files,
        benchmarks=BENCHMARKS,
        logs=LOGS,
    script:
        "../../scripts/write_report.py"


# At the end: a job that still ran would miss its folder.
onsuccess:
    gather_records(BENCHMARKS, LOGS)
