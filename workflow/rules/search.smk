"""A search: generations of designs, their front in full, and the designs chosen from it."""

from kneewear.study.search import search_settings

GENERATIONS = [f"g{number:03d}" for number in range(STUDY.cases.generations)]
FRONT = "front"
DESIGN_BATCHES = list(STUDY.batch_ranges(STUDY.cases.population))
CHOSEN = STUDY.cases.chosen


wildcard_constraints:
    generation=f"g[0-9]+|{FRONT}",
    chosen="|".join(CHOSEN),


def earlier_designs(wildcards):
    """Designs of all generations before one, or before the front."""
    whole = wildcards.generation == FRONT
    return expand(
        f"{RESULTS}/search/{{generation}}/{{batch}}.csv",
        generation=(
            GENERATIONS
            if whole
            else GENERATIONS[: GENERATIONS.index(wildcards.generation)]
        ),
        batch=DESIGN_BATCHES,
    )


# Each job plans its whole generation again from the results before it and computes its part: the
# same designs in every job, on any machine and after any interruption.
rule evaluate_cases:
    input:
        tables=earlier_designs,
        knee=[rules.build_geometry.output.knee],
        activities=PREPARED,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        results=f"{RESULTS}/search/{{generation}}/{{batch}}.csv",
        kept=[],
    log:
        f"{LOGS}/evaluate_cases/{{generation}}/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_cases/{{generation}}/{{batch}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.sample_mb,
        runtime=SIZES.sample_minutes,
    params:
        source=source_fingerprint("evaluate_cases", ROOT, model_of(STUDY).modules("compute", "collect")),
        study=lambda wildcards: (
            STUDY.computed()
            if wildcards.generation == FRONT
            else search_settings(STUDY)
        ),
        generation=lambda wildcards: (
            None
            if wildcards.generation == FRONT
            else GENERATIONS.index(wildcards.generation)
        ),
        root=ROOT,
        cases=lambda wildcards: [
            DESIGN_BATCHES.index(wildcards.batch),
            None,
            len(DESIGN_BATCHES),
        ],
    script:
        "../../scripts/evaluate_cases.py"


RESULT_FILES = expand(
    rules.evaluate_cases.output.results,
    generation=[*GENERATIONS, FRONT],
    batch=DESIGN_BATCHES,
)
KEPT_FILES = []
SIDE_TABLES = IMPLANT_FILES = []


include: "analyse.smk"


rule simulate_chosen:
    input:
        front=rules.analyse_cases.output.front,
        chosen=rules.analyse_cases.output.chosen_designs,
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
        chosen=rules.analyse_cases.output.chosen_designs,
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


use rule export_files as export_design with:
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


REPORTED = {
    "figures": [rules.analyse_cases.output.figures],
    "tables": ANALYSED,
    "activities": PREPARED,
    "view": [rules.simulate_chosen.output.view],
}


rule search:
    input:
        expand(rules.export_design.output, chosen=CHOSEN),
        rules.write_designs.output,
        PAGE,
