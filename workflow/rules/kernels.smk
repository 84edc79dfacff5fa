"""Kernels compiled once, before jobs that need them run side by side."""

import hashlib

from kneewear.compilation import kernel_folder

# Snakemake does not check jobs behind one that runs, and does not run jobs behind an ancient file:
# if this rule ran again for a marker that exists, no other job of the study would run. So the
# marker is stored with Snakemake's records (a cache of kernels may be shared by several
# directories), and its name contains all that Snakemake compares: the code, the environment, and
# the script and its time.
SCRIPT = Path(ROOT, "scripts/compile_kernels.py")
KERNELS = hashlib.sha256(source_fingerprint("compile_kernels", ROOT).encode())
KERNELS.update(SCRIPT.read_bytes() + str(SCRIPT.stat().st_mtime_ns).encode())
KERNELS.update(Path(ROOT, "workflow/envs/kneewear.yaml").read_bytes())
MARKER = f"{kernel_folder().name}_{KERNELS.hexdigest()[:12]}"


rule compile_kernels:
    output:
        marker=touch(f".snakemake/kernels/{MARKER}"),
    log:
        f"{LOGS}/compile_kernels.log",
    benchmark:
        f"{BENCHMARKS}/compile_kernels.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("compile_kernels", ROOT),
    script:
        "../../scripts/compile_kernels.py"
