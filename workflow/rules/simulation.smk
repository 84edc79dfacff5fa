"""Contact over one cycle, a batch of cases a job."""

# The middle of the design stands for the others.
CENTRE_CASE = asdict(STUDY.case_list()[len(STUDY.case_list()) // 2])
CENTRE_BATCH = next(name for name, cases in BATCHES.items() if CENTRE_CASE in cases)
# Motions from files whose signs may be wrong; forces have none to try.
SIGNED = [name for name in ACTIVITIES if prescribes_motion(STUDY.activities[name])]


rule simulate_contact:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        # Jobs wait for the compiled kernels but are not run again for them.
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        history=f"{RESULTS}/simulation/{{activity}}/{{batch}}.nc",
    log:
        f"{LOGS}/simulate_contact/{{activity}}/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/simulate_contact/{{activity}}/{{batch}}.tsv"
    priority: LONGEST_WAY
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=simulation_mb,
        runtime=simulation_minutes,
    params:
        source=fingerprint("simulate_contact"),
        simulation=settings(STUDY.simulation),
        cases=lambda wildcards: BATCHES[wildcards.batch],
    script:
        "../../scripts/simulate_contact.py"


rule check_signs:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        trials=f"{RESULTS}/simulation/{{activity}}/signs.csv",
    log:
        f"{LOGS}/check_signs/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_signs/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        source=fingerprint("check_signs"),
        simulation=settings(STUDY.simulation),
        case=CENTRE_CASE,
        reference=lambda wildcards: STUDY.activities[
            wildcards.activity
        ].motion.reference_posterior_mm,
    script:
        "../../scripts/check_signs.py"


rule list_failures:
    input:
        histories=expand(
            rules.simulate_contact.output.history, activity=ACTIVITIES, batch=BATCHES
        ),
    output:
        failures=f"{RESULTS}/tables/failures.csv",
    log:
        f"{LOGS}/list_failures.log",
    benchmark:
        f"{BENCHMARKS}/list_failures.tsv"
    conda:
        "../envs/kneewear.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        source=fingerprint("list_failures"),
    script:
        "../../scripts/list_failures.py"
