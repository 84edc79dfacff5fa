"""What every rule has: log, benchmark, environment, and the fingerprint of its code.

Included last. The names of log and benchmark are those of the rule and its wildcards.
"""

for one in workflow.rules:
    # Another workflow that uses this one as a module has rules of its own.
    if one.script and Path(one.script).parent == Path("../../scripts"):
        name = Path(one.script).stem
        path = "/".join(
            [name, *(f"{{{wildcard}}}" for wildcard in sorted(one.wildcard_names))]
        )
        if not one.log:
            one.log_modifier = one.output_modifier
            one.set_log(f"{LOGS}/{path}.log")
        if not one.benchmark:
            one.benchmark_modifier = one.output_modifier
            one.benchmark = f"{BENCHMARKS}/{path}.tsv"
        one.conda_env = one.conda_env or "../envs/kneewear.yaml"
        one.set_params(source=source_fingerprint(name, ROOT))
