"""A wear study: contact, wear and creep of every case over a life."""


rule simulate_contact:
    input:
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        # Where plastic strain stays, activities of a life follow each other on one insert.
        before=lambda wildcards: CHAIN.before(wildcards.activity, wildcards.batch),
        # Jobs wait for the compiled kernels but are not run again for them.
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        history=f"{RESULTS}/simulation/{{activity}}/{{batch}}.nc",
    log:
        f"{LOGS}/simulate_contact/{{activity}}/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/simulate_contact/{{activity}}/{{batch}}.tsv"
    priority: CHAIN_FIRST
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.simulation_mb,
        runtime=SIZES.simulation_minutes,
    params:
        source=source_fingerprint("simulate_contact", ROOT),
        simulation=lambda wildcards: block_settings(
            CHAIN.own[wildcards.batch].simulation
        ),
        activity=lambda wildcards: CHAIN.own_activities[wildcards.batch].get(
            wildcards.activity
        ),
        cases=lambda wildcards: CHAIN.batches[wildcards.batch],
    script:
        "../../scripts/simulate_contact.py"


rule accumulate_wear:
    input:
        knee=rules.build_geometry.output.knee,
        activities=CHAIN.prepared,
        histories=expand(
            rules.simulate_contact.output.history,
            activity=CHAIN.activities,
            allow_missing=True,
        ),
    output:
        damage=f"{RESULTS}/wear/{{batch}}.nc",
    log:
        f"{LOGS}/accumulate_wear/{{batch}}.log",
    benchmark:
        f"{BENCHMARKS}/accumulate_wear/{{batch}}.tsv"
    priority: CHAIN_FIRST
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.wear_mb,
        runtime=SIZES.wear_minutes,
    params:
        source=source_fingerprint("accumulate_wear", ROOT),
        wear=lambda wildcards: block_settings(CHAIN.own[wildcards.batch].wear),
        simulation=lambda wildcards: block_settings(
            CHAIN.own[wildcards.batch].simulation
        ),
        activities=lambda wildcards: CHAIN.own_activities[wildcards.batch],
    script:
        "../../scripts/accumulate_wear.py"


# Predictions are stored, with a digest, before a job reads measured wear.
rule freeze_prediction:
    input:
        knee=rules.build_geometry.output.knee,
        damage=expand(rules.accumulate_wear.output.damage, batch=CHAIN.batches),
    output:
        prediction=f"{RESULTS}/blind/prediction.csv",
        digest=f"{RESULTS}/blind/prediction.json",
    log:
        f"{LOGS}/freeze_prediction.log",
    benchmark:
        f"{BENCHMARKS}/freeze_prediction.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.maps_mb,
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("freeze_prediction", ROOT),
        wear=CHAIN.wear,
    script:
        "../../scripts/freeze_prediction.py"
