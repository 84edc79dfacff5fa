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


rule present_fe_knee:
    input:
        history=rules.solve_fe_knee.output.history,
        counts=rules.solve_fe_knee.output.meshes,
        frames=rules.solve_fe_knee.output.frames,
        meshes=rules.mesh_fe_knee.output.meshes,
    output:
        literature=table("literature", "Results"),
        figures=figures_folder("figures"),
        view=f"{RESULTS}/fe_knee/view.json",
    log:
        f"{LOGS}/present_fe_knee.log",
    benchmark:
        f"{BENCHMARKS}/present_fe_knee.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(4000),
        runtime=SIZES.longer(60),
    params:
        source=source_fingerprint("present_fe_knee", ROOT),
        drawn=DRAWN,
        fe_knee=settings(STUDY.fe_knee),
    script:
        "../../scripts/present_fe_knee.py"


REPORTED = {
    "figures": [rules.present_fe_knee.output.figures],
    "view": [rules.present_fe_knee.output.view],
    "tables": [
        rules.present_fe_knee.output.literature,
        rules.solve_fe_knee.output.history,
        rules.solve_fe_knee.output.meshes,
    ],
}


rule fe_knee:
    input:
        rules.solve_fe_knee.output,
        PAGE,
