"""A dynamic finite-element knee: its steps in time, tables, figures and animation."""

MODEL_FILES = model_files(STUDY, ROOT)


# A job of its own: tetrahedra of natural bones differ a little each time they are made.
rule mesh_fe_knee:
    input:
        data=sorted(set(MODEL_FILES.values())),
    output:
        meshes=f"{RESULTS}/fe_knee/meshes.npz",
    log:
        f"{LOGS}/mesh_fe_knee.log",
    benchmark:
        f"{BENCHMARKS}/mesh_fe_knee.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(2000),
        runtime=SIZES.longer(20),
    params:
        source=source_fingerprint("mesh_fe_knee", ROOT),
        digests=lambda wildcards: input_digests(sorted(set(MODEL_FILES.values()))),
        files=MODEL_FILES,
        knee=STUDY.implant.knee,
        bones=settings(STUDY.fe_knee.bones),
    script:
        "../../scripts/mesh_fe_knee.py"


rule solve_fe_knee:
    input:
        meshes=rules.mesh_fe_knee.output.meshes,
    output:
        history=table("knee_history", "Results"),
        meshes=table("knee_meshes", "Verification"),
        frames=f"{RESULTS}/fe_knee/frames.nc",
    log:
        f"{LOGS}/solve_fe_knee.log",
    benchmark:
        f"{BENCHMARKS}/solve_fe_knee.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(4000),
        runtime=SIZES.longer(240),
    params:
        source=source_fingerprint("solve_fe_knee", ROOT),
        fe_knee=settings(STUDY.fe_knee),
        # Not an output: a job that was killed leaves it, and the next one continues from it.
        progress=f"{RESULTS}/fe_knee/progress.npz",
    script:
        "../../scripts/solve_fe_knee.py"


rule tabulate_fe_knee:
    input:
        history=rules.solve_fe_knee.output.history,
        counts=rules.solve_fe_knee.output.meshes,
        frames=rules.solve_fe_knee.output.frames,
        meshes=rules.mesh_fe_knee.output.meshes,
    output:
        statements=table("knee_statements", "Results"),
    log:
        f"{LOGS}/tabulate_fe_knee.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_fe_knee.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(2000),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("tabulate_fe_knee", ROOT),
        fe_knee=settings(STUDY.fe_knee),
    script:
        "../../scripts/tabulate_fe_knee.py"


rule plot_fe_knee:
    input:
        history=rules.solve_fe_knee.output.history,
        frames=rules.solve_fe_knee.output.frames,
    output:
        figures=figures_folder("figures"),
        view=f"{RESULTS}/fe_knee/view.json",
    log:
        f"{LOGS}/plot_fe_knee.log",
    benchmark:
        f"{BENCHMARKS}/plot_fe_knee.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_fe_knee", ROOT),
        captions=CAPTIONS,
    script:
        "../../scripts/plot_fe_knee.py"


REPORTED = {
    "figures": [rules.plot_fe_knee.output.figures],
    "view": [rules.plot_fe_knee.output.view],
    "tables": [
        rules.tabulate_fe_knee.output.statements,
        rules.solve_fe_knee.output.history,
        rules.solve_fe_knee.output.meshes,
    ],
}


rule fe_knee:
    input:
        rules.solve_fe_knee.output,
        PAGE,
