"""Kernels compiled once, before jobs that need them run side by side."""

# The marker stands beside the compiled kernels, so that one study compiles for all. It carries the
# code's fingerprint: a marker that were made anew under the same name would hide from Snakemake
# that the jobs behind it have other code too (it asks nothing of jobs behind one that runs, and
# does not run jobs behind an ancient file).
KERNELS = fingerprint("compile_kernels")


rule compile_kernels:
    output:
        marker=touch(f"{KERNEL_FOLDER}/compiled_{KERNELS}"),
    log:
        f"{LOGS}/compile_kernels.log",
    benchmark:
        f"{BENCHMARKS}/compile_kernels.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=KERNELS,
    script:
        "../../scripts/compile_kernels.py"
