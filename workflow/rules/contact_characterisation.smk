"""Contact area and pressure of designs under chosen conditions."""


include: "designs.smk"


rule characterise_contact:
    input:
        knee=rules.build_design.output.knee,
        kernels=ancient(rules.compile_kernels.output.marker),
    output:
        record=f"{RESULTS}/simulation/{{design}}.nc",
        contact=f"{RESULTS}/simulation/{{design}}.csv",
    log:
        f"{LOGS}/characterise_contact/{{design}}.log",
    benchmark:
        f"{BENCHMARKS}/characterise_contact/{{design}}.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(30),
    params:
        source=source_fingerprint("characterise_contact", ROOT),
        characterisation=settings(STUDY.characterisation),
        simulation=settings(STUDY.simulation),
        grid=settings(STUDY.grid),
        table=settings(STUDY.table),
    script:
        "../../scripts/characterise_contact.py"


rule tabulate_contact:
    input:
        contact=expand(rules.characterise_contact.output.contact, design=DESIGNS),
    output:
        contact=table("contact", "Results"),
        worst=table("worst_cases", "Results"),
        submission=table("submission", "Results"),
    log:
        f"{LOGS}/tabulate_contact.log",
    benchmark:
        f"{BENCHMARKS}/tabulate_contact.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1000),
        runtime=SIZES.longer(5),
    params:
        source=source_fingerprint("tabulate_contact", ROOT),
    script:
        "../../scripts/tabulate_contact.py"


rule plot_characterisation:
    input:
        contact=rules.tabulate_contact.output.contact,
        worst=rules.tabulate_contact.output.worst,
        knees=expand(rules.build_design.output.knee, design=DESIGNS),
        records=expand(rules.characterise_contact.output.record, design=DESIGNS),
    output:
        figures=figures_folder("figures"),
    log:
        f"{LOGS}/plot_characterisation.log",
    benchmark:
        f"{BENCHMARKS}/plot_characterisation.tsv"
    conda:
        "../envs/kneewear.yaml"
    resources:
        mem_mb=SIZES.more(1500),
        runtime=SIZES.longer(10),
    params:
        source=source_fingerprint("plot_characterisation", ROOT),
        captions=CAPTIONS,
        designs=list(DESIGNS),
    script:
        "../../scripts/plot_characterisation.py"


REPORTED = {
    "figures": [rules.plot_characterisation.output.figures],
    "tables": [
        rules.tabulate_contact.output.contact,
        rules.tabulate_contact.output.worst,
        rules.tabulate_contact.output.submission,
    ],
}


rule contact_characterisation:
    input:
        PAGE,
