"""A finite-element twin: chosen frames of an activity by finite elements beside the foundation."""

from dataclasses import asdict
from re import escape

TWIN_CASES = {case.name: asdict(case) for case in STUDY.twin_cases()}


wildcard_constraints:
    case="|".join(map(escape, TWIN_CASES)),


rule compute_twin:
    input:
        knee=rules.build_geometry.output.knee,
        activity=f"{RESULTS}/activity/{STUDY.fe_twin.activity}.nc",
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        results=f"{RESULTS}/fe/{{case}}/fe_twin.csv",
        maps=f"{RESULTS}/fe/{{case}}/fe_maps.csv",
        profiles=f"{RESULTS}/fe/{{case}}/fe_profiles.csv",
        solids=f"{RESULTS}/fe/{{case}}/fe_solids.csv",
        vtk=directory(f"{RESULTS}/fe/{{case}}/vtk"),
    log:
        f"{LOGS}/compute_twin/{{case}}.log",
    benchmark:
        f"{BENCHMARKS}/compute_twin/{{case}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(10_000),
        runtime=SIZES.longer(60),
    params:
        source=source_fingerprint("compute_twin", ROOT),
        case=lambda wildcards: TWIN_CASES[wildcards.case],
        frames=list(STUDY.twin_frames()),
        fe_twin=settings(STUDY.fe_twin),
        simulation=settings(STUDY.simulation),
    script:
        "../../scripts/compute_twin.py"


rule tabulate_twin:
    input:
        fe_twin=expand(rules.compute_twin.output.results, case=TWIN_CASES),
        fe_maps=expand(rules.compute_twin.output.maps, case=TWIN_CASES),
        fe_profiles=expand(rules.compute_twin.output.profiles, case=TWIN_CASES),
        fe_solids=expand(rules.compute_twin.output.solids, case=TWIN_CASES),
    output:
        fe_twin=table("fe_twin", "Results"),
        fe_maps=f"{RESULTS}/fe/maps.csv",
        fe_profiles=table("fe_profiles", "Results"),
        fe_solids=table("fe_solids", "Verification"),
    log:
        f"{LOGS}/tabulate_twin.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_twin.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("tabulate_twin", ROOT),
    script:
        "../../scripts/tabulate_twin.py"


rule plot_twin:
    input:
        fe_twin=rules.tabulate_twin.output.fe_twin,
        fe_maps=rules.tabulate_twin.output.fe_maps,
        fe_profiles=rules.tabulate_twin.output.fe_profiles,
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_twin.log",
    benchmark:
        f"{BENCHMARKS}/plot_twin.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_twin", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_twin.py"


REPORTED = {
    "figures": [rules.plot_twin.output.figures],
    "tables": [
        rules.tabulate_twin.output.fe_twin,
        rules.tabulate_twin.output.fe_profiles,
        rules.tabulate_twin.output.fe_solids,
        rules.build_geometry.output.fit_quality,
    ],
    "activities": PREPARED,
}


rule fe_twin:
    input:
        rules.build_geometry.output,
        PREPARED,
        PAGE,
