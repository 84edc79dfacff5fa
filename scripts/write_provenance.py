"""Record versions, input hashes, settings and wall times (rule write_provenance)."""

from kneewear.io.document import save_json
from kneewear.joblog import job_log
from kneewear.provenance import provenance_record

with job_log(snakemake.log[0], snakemake.threads):
    record = provenance_record(
        settings=snakemake.params.settings,
        inputs=list(snakemake.input.data),
        benchmarks=snakemake.params.benchmarks,
        logs=snakemake.params.logs,
    )
    save_json(record, snakemake.output.provenance)
