"""The film of one cycle, for studies that ask for it (key report.film)."""


rule draw_film:
    input:
        page=PAGE,
        figures=CHAIN.figure_folders,
    output:
        f"{RESULTS}/film.gif",
    log:
        f"{LOGS}/draw_film.log",
    benchmark:
        f"{BENCHMARKS}/draw_film.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("draw_film", ROOT),
    script:
        "../../scripts/draw_film.py"
