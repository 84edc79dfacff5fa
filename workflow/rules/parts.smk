"""A model that is computed in parts instead of cases: its parts, tables and figures."""

from re import escape

MODEL = model_of(STUDY)
PARTS = MODEL.list_jobs(STUDY)
# Maps are for figures only.
TABLES = {
    name: (
        f"{RESULTS}/{STUDY.model}/{name}.csv"
        if name == "fe_maps"
        else table(name, "Results")
    )
    for part in PARTS.values()
    for name in part.tables
}
# Files of parts that are results of the study.
PART_FILES = [
    f"{RESULTS}/{STUDY.model}/{name}" for part in PARTS.values() for name in part.files
]
# Files that parts read themselves.
MODEL_FILES = sorted(
    {
        *model_files(STUDY, ROOT).values(),
        *(
            path
            for name in ACTIVITIES
            for path in activity_files(STUDY, name, ROOT).values()
        ),
    }
)
KERNELS_NEEDED = (
    [rules.compile_kernels.output.marker]
    if any(part.kernels for part in PARTS.values())
    else []
)
ROOM = [*MODEL.modules("list_jobs", "compute_job"), *STUDY.loaded_packages]


# Figures are found by name.
FIGURES = MODEL.modules("draw", "view")


wildcard_constraints:
    part="|".join(map(escape, PARTS)),


rule compute_part:
    input:
        earlier=lambda wildcards: expand(
            f"{RESULTS}/{STUDY.model}/{{part}}", part=PARTS[wildcards.part].needs
        ),
        knee=lambda wildcards: (
            [rules.build_geometry.output.knee] if PARTS[wildcards.part].knee else []
        ),
        activities=lambda wildcards: PREPARED if PARTS[wildcards.part].knee else [],
        data=MODEL_FILES,
        kernels=ancient(KERNELS_NEEDED),
    output:
        directory(f"{RESULTS}/{STUDY.model}/{{part}}"),
    log:
        f"{LOGS}/compute_part/{{part}}.log",
    benchmark:
        f"{BENCHMARKS}/compute_part/{{part}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * PARTS[wildcards.part].memory_mb,
        runtime=lambda wildcards, attempt: attempt * PARTS[wildcards.part].minutes,
    params:
        source=source_fingerprint("compute_part", ROOT, ROOM),
        digests=lambda wildcards: input_digests(MODEL_FILES),
        study=STUDY.computed()
        | {"data_folder": STUDY.data_folder if MODEL_FILES else "."},
        root=ROOT,
        part=lambda wildcards: wildcards.part,
        folder=lambda wildcards, output: output[0],
    script:
        "../../scripts/compute_part.py"


PART_FOLDERS = expand(rules.compute_part.output, part=PARTS)


rule join_parts:
    input:
        parts=PART_FOLDERS,
    output:
        **TABLES,
        figures=figures_folder("figures"),
        view=f"{RESULTS}/{STUDY.model}/view.json",
        files=PART_FILES,
    log:
        f"{LOGS}/join_parts.log",
    benchmark:
        f"{BENCHMARKS}/join_parts.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("join_parts", ROOT, FIGURES),
        drawn=DRAWN,
        model=STUDY.model,
        tables=list(TABLES),
    script:
        "../../scripts/join_parts.py"


# Whether any part is computed from the study's knee.
HAS_KNEE = any(part.knee for part in PARTS.values())
REPORTED = {
    "figures": [rules.join_parts.output.figures],
    "view": [rules.join_parts.output.view],
    "tables": [
        *(rules.join_parts.output[name] for name in TABLES if name != "fe_maps"),
        *([rules.build_geometry.output.fit_quality] if HAS_KNEE else []),
    ],
    "activities": PREPARED if HAS_KNEE else [],
}


rule parts:
    input:
        [*rules.build_geometry.output, *rules.export_files.output.step]
        if HAS_KNEE
        else [],
        PAGE,
