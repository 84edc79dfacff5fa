"""A multibody study: a knee that finds its own motion, its tables and figures."""

MODEL_FILES = model_files(STUDY, ROOT)
# A predicted gait can be an activity of a wear study (config/dm_predicted.yaml).
PREDICTED = (
    {"motion": f"{RESULTS}/multibody/motion.csv"}
    if STUDY.multibody.model == "predicted_gait"
    else {}
)


rule solve_multibody:
    input:
        data=sorted(set(MODEL_FILES.values())),
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        **PREDICTED,
        kinematics=table("kinematics", "Results", "multibody"),
        forces=table("forces", "Results", "multibody"),
        statements=table("multibody_statements", "Results"),
        scene=f"{RESULTS}/multibody/scene.json",
    log:
        f"{LOGS}/solve_multibody.log",
    benchmark:
        f"{BENCHMARKS}/solve_multibody.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("solve_multibody", ROOT),
        digests=lambda wildcards: input_digests(sorted(set(MODEL_FILES.values()))),
        files=MODEL_FILES,
        multibody=settings(STUDY.multibody),
    script:
        "../../scripts/solve_multibody.py"


rule plot_multibody:
    input:
        kinematics=rules.solve_multibody.output.kinematics,
        forces=rules.solve_multibody.output.forces,
        scene=rules.solve_multibody.output.scene,
    output:
        figures=figures_folder("figures"),
        view=f"{RESULTS}/multibody/view.json",
    log:
        f"{LOGS}/plot_multibody.log",
    benchmark:
        f"{BENCHMARKS}/plot_multibody.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_multibody", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_multibody.py"


REPORTED = {
    "figures": [rules.plot_multibody.output.figures],
    "view": [rules.plot_multibody.output.view],
    "tables": [
        rules.solve_multibody.output.statements,
        rules.solve_multibody.output.kinematics,
        rules.solve_multibody.output.forces,
    ],
}


rule multibody:
    input:
        rules.solve_multibody.output.scene,
        PAGE,
