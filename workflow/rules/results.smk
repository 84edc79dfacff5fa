"""Results of a study of any kind: what is no life of wear, all tables, figures and exported files."""


rule evaluate_cases:
    input:
        unpack(lambda wildcards: CHAIN.evaluated[wildcards.job].inputs),
        kernels=ancient(
            rules.compile_kernels.output.marker if CHAIN.uses_kernels else []
        ),
    output:
        **{
            name: directory(path) if name == "folder" else path
            for name, path in CHAIN.evaluated_files.items()
        },
    log:
        f"{LOGS}/evaluate_cases/{{job}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_cases/{{job}}.tsv"
    wildcard_constraints:
        job=CHAIN.job_pattern,
    priority: CHAIN_FIRST
    conda:
        "../envs/kneewear.yaml"
    threads: CHAIN.threads
    resources:
        mem_mb=lambda wildcards, attempt, threads: CHAIN.evaluated[
            wildcards.job
        ].memory_of(wildcards, attempt, threads),
        runtime=lambda wildcards, attempt: CHAIN.evaluated[wildcards.job].minutes(
            wildcards, attempt
        ),
    params:
        source=lambda wildcards: CHAIN.source(
            "evaluate_cases", CHAIN.evaluated[wildcards.job]
        ),
        digests=lambda wildcards: input_digests(CHAIN.evaluated[wildcards.job].files),
        step=lambda wildcards: CHAIN.evaluated[wildcards.job].name,
        settings=lambda wildcards: CHAIN.evaluated[wildcards.job].settings,
        side=lambda wildcards: CHAIN.side_tables(wildcards.job),
        root=lambda wildcards: ROOT,
    script:
        "../../scripts/evaluate_cases.py"


# Jobs beside those of all cases.
if CHAIN.variants:

    use rule evaluate_cases as evaluate_variants with:
        input:
            unpack(lambda wildcards: CHAIN.variants[wildcards.job].inputs),
            kernels=ancient(rules.compile_kernels.output.marker),
        output:
            folder=directory(CHAIN.folder("{job}")),
        log:
            f"{LOGS}/evaluate_variants/{{job}}.log",
        benchmark:
            f"{BENCHMARKS}/evaluate_variants/{{job}}.tsv"
        wildcard_constraints:
            job="|".join(CHAIN.variants),
        resources:
            mem_mb=lambda wildcards, attempt: CHAIN.variants[wildcards.job].memory(
                wildcards, attempt
            ),
            runtime=lambda wildcards, attempt: CHAIN.variants[wildcards.job].minutes(
                wildcards, attempt
            ),
        params:
            source=lambda wildcards: CHAIN.source(
                "evaluate_cases", CHAIN.variants[wildcards.job]
            ),
            digests=lambda wildcards: input_digests(CHAIN.variants[wildcards.job].files),
            step=lambda wildcards: CHAIN.variants[wildcards.job].name,
            settings=lambda wildcards: CHAIN.variants[wildcards.job].settings,
            side=lambda wildcards: CHAIN.side_tables(wildcards.job),
            root=lambda wildcards: ROOT,


rule analyse_cases:
    input:
        **CHAIN.analysis.inputs,
    output:
        **tables(CHAIN.tables),
        **tables(CHAIN.copied),
        files=CHAIN.copied_files,
    log:
        f"{LOGS}/analyse_cases.log",
    benchmark:
        f"{BENCHMARKS}/analyse_cases.tsv"
    priority: CHAIN_FIRST
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=CHAIN.analysis.memory,
        runtime=CHAIN.analysis.minutes,
    params:
        source=CHAIN.source("analyse_cases", CHAIN.analysis),
        digests=lambda wildcards: input_digests(CHAIN.analysis.files),
        step=CHAIN.analysis.name,
        settings=CHAIN.analysis.settings,
        copied=[*CHAIN.paths(CHAIN.copied), *CHAIN.copied_files],
    script:
        "../../scripts/analyse_cases.py"


rule plot_figures:
    input:
        unpack(lambda wildcards: CHAIN.drawn[wildcards.group].inputs),
    output:
        figures=report(
            directory(f"{RESULTS}/{CHAIN.figures}"),
            patterns=["{name}.svg"],
            caption="../report/file.rst",
            category="Figures",
            subcategory=lambda wildcards: wildcards.group.capitalize(),
            labels={"figure": "{name}"},
        ),
    log:
        f"{LOGS}/plot_figures/{{group}}.log",
    benchmark:
        f"{BENCHMARKS}/plot_figures/{{group}}.tsv"
    priority: FIGURES_NEXT
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: CHAIN.drawn[wildcards.group].memory(
            wildcards, attempt
        ),
        runtime=lambda wildcards, attempt: CHAIN.drawn[wildcards.group].minutes(
            wildcards, attempt
        ),
    params:
        source=lambda wildcards: CHAIN.source(
            "plot_figures", CHAIN.drawn[wildcards.group]
        ),
        digests=lambda wildcards: input_digests(CHAIN.drawn[wildcards.group].files),
        step=lambda wildcards: CHAIN.drawn[wildcards.group].name,
        settings=lambda wildcards: CHAIN.drawn[wildcards.group].settings,
        # Formats of figures, and those that the summary shows as pictures.
        drawn={
            "formats": STUDY.figure_formats,
            "pictures": load_page(STUDY.page or STUDY.model).summary_figures,
        },
        root=lambda wildcards: ROOT,
    script:
        "../../scripts/plot_figures.py"


rule export_files:
    input:
        **CHAIN.export.inputs,
    output:
        **{
            name: [directory(path) for path in paths]
            for name, paths in CHAIN.exported_maps.items()
        },
        **CHAIN.exported,
    log:
        f"{LOGS}/export_files.log",
    benchmark:
        f"{BENCHMARKS}/export_files.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=CHAIN.export.memory,
        runtime=SIZES.longer(10),
    params:
        source=CHAIN.source("export_files", CHAIN.export),
        step=CHAIN.export.name,
        settings=CHAIN.export.settings,
        folders=CHAIN.exported_folders,
    script:
        "../../scripts/export_files.py"
