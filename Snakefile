"""Wear of total knee replacements; see README.md and config/README.md."""


include: "workflow/Snakefile"


# Targets of an included file are no default.
rule study:
    default_target: True
    input:
        rules.all.input,
