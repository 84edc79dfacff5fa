"""An optimisation: generations of designs, their front in full, and the designs chosen from it."""

GENERATIONS = [f"g{number:03d}" for number in range(STUDY.optimisation.generations)]
# First design of a generation in each of its jobs, and the one after its last.
DESIGN_BATCHES = {name: list(part) for name, part in STUDY.batches().items()}
CHOSEN = STUDY.optimisation.chosen


wildcard_constraints:
    generation="g[0-9]+",
    chosen="|".join(CHOSEN),


def earlier_generations(wildcards):
    """Designs of all generations before one."""
    return expand(
        f"{RESULTS}/search/{{generation}}/{{batch}}.csv",
        generation=GENERATIONS[: GENERATIONS.index(wildcards.generation)],
        batch=DESIGN_BATCHES,
    )


# Each job proposes its whole generation again from the evaluations before it and computes its part:
# the same designs in every job, on any machine and after any interruption.
rule search_designs:
    input:
        earlier=earlier_generations,
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        designs=f"{RESULTS}/search/{{generation}}/{{batch}}.csv",
    log:
        f"{LOGS}/search_designs/{{generation}}/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/search_designs/{{generation}}/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("search_designs", ROOT),
        study=STUDY.search_settings(),
        generation=lambda wildcards: GENERATIONS.index(wildcards.generation),
        designs=lambda wildcards: DESIGN_BATCHES[wildcards.batch],
    script:
        "../../scripts/search_designs.py"


rule find_front:
    input:
        designs=expand(
            rules.search_designs.output.designs,
            generation=GENERATIONS,
            batch=DESIGN_BATCHES,
        ),
    output:
        designs=table("designs", "Results"),
    log:
        f"{LOGS}/find_front.log",
    benchmark:
        f"{BENCHMARKS}/find_front.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("find_front", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/find_front.py"


rule evaluate_front:
    input:
        designs=rules.find_front.output.designs,
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        designs=f"{RESULTS}/search/front/{{batch}}.csv",
    log:
        f"{LOGS}/evaluate_front/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_front/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_front", ROOT),
        study=STUDY.computed(),
        part=lambda wildcards: list(DESIGN_BATCHES).index(wildcards.batch),
        parts=len(DESIGN_BATCHES),
    script:
        "../../scripts/evaluate_front.py"


rule tabulate_front:
    input:
        designs=rules.find_front.output.designs,
        full=expand(rules.evaluate_front.output.designs, batch=DESIGN_BATCHES),
    output:
        front=table("front", "Results"),
        chosen=table("chosen_designs", "Results"),
        search_error=table("search_error", "Verification"),
        convergence=table("search_progress", "Verification"),
    log:
        f"{LOGS}/tabulate_front.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_front.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("tabulate_front", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/tabulate_front.py"


rule simulate_chosen:
    input:
        front=rules.tabulate_front.output.front,
        chosen=rules.tabulate_front.output.chosen,
        knee=rules.build_geometry.output.knee,
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        knees=expand(f"{RESULTS}/geometry/{{chosen}}/knee.nc", chosen=CHOSEN),
        view=f"{RESULTS}/report/design_view.json",
    log:
        f"{LOGS}/simulate_chosen.log",
    benchmark:
        f"{BENCHMARKS}/simulate_chosen.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.batch_mb,
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("simulate_chosen", ROOT),
        study=STUDY.computed(),
    script:
        "../../scripts/simulate_chosen.py"


rule write_designs:
    input:
        chosen=rules.tabulate_front.output.chosen,
    output:
        studies=expand(f"{RESULTS}/designs/{{chosen}}.yaml", chosen=CHOSEN),
    log:
        f"{LOGS}/write_designs.log",
    benchmark:
        f"{BENCHMARKS}/write_designs.tsv"
    localrule: True
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("write_designs", ROOT),
        study=settings(STUDY),
    script:
        "../../scripts/write_designs.py"


use rule export_geometry as export_design with:
    input:
        knee=f"{RESULTS}/geometry/{{chosen}}/knee.nc",
    output:
        vtk=expand(
            f"{RESULTS}/geometry/{{chosen}}/vtk/{{part}}.vtp",
            part=["insert", "insert_net", "femoral", "femoral_net", "grid"],
            allow_missing=True,
        ),
        step=(
            [f"{RESULTS}/geometry/{{chosen}}/surfaces.step"]
            if cad_is_installed()
            else []
        ),
    log:
        f"{LOGS}/export_design/{{chosen}}.log",
    benchmark:
        f"{BENCHMARKS}/export_design/{{chosen}}.tsv"


rule plot_optimisation:
    input:
        designs=rules.find_front.output.designs,
        tables=rules.tabulate_front.output,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_optimisation.log",
    benchmark:
        f"{BENCHMARKS}/plot_optimisation.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_optimisation", ROOT),
        optimisation=settings(STUDY.optimisation),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_optimisation.py"


REPORTED = {
    "figures": [rules.plot_optimisation.output.figures],
    "tables": [rules.find_front.output.designs, *rules.tabulate_front.output],
    "activities": PREPARED,
    "view": [rules.simulate_chosen.output.view],
}


rule optimisation:
    input:
        expand(rules.export_design.output, chosen=CHOSEN),
        rules.write_designs.output,
        PAGE,
