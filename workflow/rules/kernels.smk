"""Kernels compiled once, before jobs that need them run side by side."""

from kneewear.compilation import kernel_folder

# The marker is stored with the compiled kernels, so that one study compiles for all. Its name
# contains the fingerprint of the code: a marker written again under the same name would hide
# from Snakemake that the jobs behind it have other code too (it does not check jobs behind one
# that runs, and does not run jobs behind an ancient file).
KERNELS = source_fingerprint("compile_kernels", ROOT)


rule compile_kernels:
    output:
        marker=touch(f"{os.path.relpath(kernel_folder())}/compiled_{KERNELS}"),
    log:
        f"{LOGS}/compile_kernels.log",
    benchmark:
        f"{BENCHMARKS}/compile_kernels.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=source_fingerprint("compile_kernels", ROOT),
    script:
        "../../scripts/compile_kernels.py"
