"""Laxity of designs: forces and moments against displacements under load."""


include: "designs.smk"


rule drive_loops:
    input:
        knee=rules.build_design.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        loops=f"{RESULTS}/simulation/{{design}}.csv",
    log:
        f"{LOGS}/drive_loops/{{design}}.log",
    benchmark:
        f"{BENCHMARKS}/drive_loops/{{design}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("drive_loops", ROOT),
        laxity=settings(STUDY.laxity),
        simulation=settings(STUDY.simulation),
        grid=settings(STUDY.grid),
        table=settings(STUDY.table),
    script:
        "../../scripts/drive_loops.py"


rule tabulate_laxity:
    input:
        loops=expand(rules.drive_loops.output.loops, design=DESIGNS),
    output:
        loops=table("loops", "Results"),
        laxity=table("laxity", "Results"),
        comparison=table("laxity_comparison", "Results"),
    log:
        f"{LOGS}/tabulate_laxity.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_laxity.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("tabulate_laxity", ROOT),
        laxity=settings(STUDY.laxity),
    script:
        "../../scripts/tabulate_laxity.py"


rule plot_laxity:
    input:
        loops=rules.tabulate_laxity.output.loops,
        laxity=rules.tabulate_laxity.output.laxity,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_laxity.log",
    benchmark:
        f"{BENCHMARKS}/plot_laxity.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_laxity", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_laxity.py"


REPORTED = {
    "figures": [rules.plot_laxity.output.figures],
    "tables": [
        rules.tabulate_laxity.output.loops,
        rules.tabulate_laxity.output.laxity,
        rules.tabulate_laxity.output.comparison,
    ],
}


rule laxity:
    input:
        PAGE,
