"""List the cases that could not be simulated (rule list_failures)."""

from kneewear.io.csv_tables import save_table
from kneewear.io.history import ELEMENT_HISTORIES, load_history
from kneewear.joblog import job_log
from kneewear.simulation.history import tabulate_failures

with job_log(snakemake.log[0], snakemake.threads):
    histories = [
        load_history(path, leave_out=ELEMENT_HISTORIES) for path in snakemake.input.histories
    ]
    save_table(tabulate_failures(histories), snakemake.output.failures)
