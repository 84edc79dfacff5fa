"""Where the results of a study come from."""

DATA_FILES = sorted(
    {
        *MESHES.values(),
        *(
            path
            for name in ACTIVITIES
            for path in activity_files(STUDY, name, ROOT).values()
        ),
    }
)


rule write_provenance:
    input:
        tables=TABLES,
        data=DATA_FILES,
    output:
        provenance=PROVENANCE,
    log:
        f"{LOGS}/write_provenance.log",
    benchmark:
        f"{BENCHMARKS}/write_provenance.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        source=fingerprint("write_provenance"),
        settings=settings(STUDY),
        benchmarks=BENCHMARKS,
        logs=LOGS,
    script:
        "../../scripts/write_provenance.py"
