"""Motions tried on the bearing before their results are used."""


rule check_motion:
    input:
        **CHAIN.meshes,
        knee=rules.build_geometry.output.knee,
        activity=rules.prepare_activity.output.activity,
        fit=rules.build_geometry.output.fit,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        placement=table(
            f"{RESULTS}/simulation/{{activity}}/placement.csv",
            "Inputs",
            activity="{activity}",
        ),
        # Empty where no signs of the activity may be wrong.
        trials=table(
            f"{RESULTS}/simulation/{{activity}}/signs.csv",
            "Inputs",
            activity="{activity}",
        ),
    log:
        f"{LOGS}/check_motion/{{activity}}.log",
    benchmark:
        f"{BENCHMARKS}/check_motion/{{activity}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint(
            "check_motion", ROOT, CHAIN.model.modules("try_cases")
        ),
        digests=lambda wildcards: input_digests(CHAIN.meshes.values()),
        meshes=list(CHAIN.meshes),
        implant=block_settings(STUDY.implant),
        simulation=block_settings(STUDY.simulation),
        cases=CHAIN.tried,
        study=CHAIN.tried_study,
        centre=CHAIN.centre,
        signed=lambda wildcards: wildcards.activity in CHAIN.signed,
        reference=lambda wildcards: CHAIN.reference(wildcards.activity),
        stated=lambda wildcards: CHAIN.states_directions(wildcards.activity),
    script:
        "../../scripts/check_motion.py"
