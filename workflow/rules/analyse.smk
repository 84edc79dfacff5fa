"""Tables and figures of all analyses, from the results of all cases (`RESULT_FILES`).

`KEPT_FILES` have what cases keep besides, `SIDE_TABLES` further tables for figures, and
`IMPLANT_FILES` are those of designs that are drawn.
"""

from kneewear.analysis.tables import table_names

# Limits where cases are judged by them, and whether materials are compared with printed ones.
REPORT_SETTINGS = (
    *(
        ("pressure_limit_mpa", "avg_pressure_limit_mpa")
        if STUDY.analyses.validity
        else ()
    ),
    *(("compare_with_published",) if STUDY.analyses.materials else ()),
)


rule analyse_cases:
    input:
        results=RESULT_FILES,
        kept=KEPT_FILES,
        tables=SIDE_TABLES,
        knee=(
            [rules.build_geometry.output.knee] if KEPT_FILES and STUDY.has_knee else []
        ),
        files=IMPLANT_FILES,
    output:
        **{name: table(name, "Results") for name in table_names(STUDY)},
        results=table("results", "Results"),
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/analyse_cases.log",
    benchmark:
        f"{BENCHMARKS}/analyse_cases.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(15),
    params:
        source=source_fingerprint("analyse_cases", ROOT, model_of(STUDY).modules("outputs", "join", "draw_cases")),
        drawn=DRAWN,
        study=STUDY.computed()
        | {
            "analyses": settings(STUDY.analyses),
            "data_folder": STUDY.data_folder if IMPLANT_FILES else ".",
            "report": STUDY.computed()["report"]
            | {name: settings(STUDY.report)[name] for name in REPORT_SETTINGS},
        },
        root=ROOT,
    script:
        "../../scripts/analyse_cases.py"


ANALYSED = [path for path in rules.analyse_cases.output if str(path).endswith(".csv")]
