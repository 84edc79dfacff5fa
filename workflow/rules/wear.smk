"""Wear, creep and damage over a life."""


rule accumulate_wear:
    input:
        knee=rules.build_geometry.output.knee,
        activities=expand(rules.prepare_activity.output.activity, activity=ACTIVITIES),
        histories=expand(
            rules.simulate_contact.output.history,
            activity=ACTIVITIES,
            allow_missing=True,
        ),
    output:
        damage=f"{RESULTS}/wear/{{batch}}.nc",
        cycles=f"{RESULTS}/wear/cycles/{{batch}}.nc",
    log:
        f"{LOGS}/accumulate_wear/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/accumulate_wear/{{batch}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=wear_mb,
        runtime=wear_minutes,
    params:
        source=fingerprint("accumulate_wear"),
        wear=settings(STUDY.wear),
        simulation=settings(STUDY.simulation),
    script:
        "../../scripts/accumulate_wear.py"


rule write_vtk:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=BATCHES),
    output:
        # A file a case and life, but for cases that failed.
        maps=directory(f"{RESULTS}/wear/vtk"),
    log:
        f"{LOGS}/write_vtk.log",
    benchmark:
        f"{BENCHMARKS}/write_vtk.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=maps_mb,
        runtime=10,
    params:
        source=fingerprint("write_vtk"),
    script:
        "../../scripts/write_vtk.py"


rule summarize_cases:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=BATCHES),
        cycles=expand(rules.accumulate_wear.output.cycles, batch=BATCHES),
    output:
        cases=report(
            f"{RESULTS}/tables/cases.csv",
            caption="../report/cases.rst",
            category="Tables",
        ),
    log:
        f"{LOGS}/summarize_cases.log",
    benchmark:
        f"{BENCHMARKS}/summarize_cases.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=maps_mb,
        runtime=10,
    params:
        source=fingerprint("summarize_cases"),
        wear=settings(STUDY.wear),
    script:
        "../../scripts/summarize_cases.py"
