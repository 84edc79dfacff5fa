"""Figures and tables of the source documents: `snakemake --cores 1 paper`."""

# Function of the command of the same name.
PAPER = next(command.run for command in COMMANDS if command.name == "paper")


# Finished studies are no input: Snakemake would run the one that the settings name.
rule paper:
    output:
        f"{COLLECTED}/paper/index.html",
    log:
        f"{COLLECTED}/paper/logs/paper.log",
    benchmark:
        f"{COLLECTED}/paper/benchmarks/paper.tsv"
    localrule: True
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=lambda wildcards: source_fingerprint("paper", ROOT, [PAPER.module]),
        step=PAPER.name,
        # The page is written again when another study is finished, or one is run again.
        finished=lambda wildcards: {
            str(file): os.path.getmtime(file)
            for file in sorted(Path(COLLECTED).glob("*/report/summary.json"))
        },
    script:
        "../../scripts/paper.py"
