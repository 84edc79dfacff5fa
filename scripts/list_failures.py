"""List the cases that could not be simulated (rule list_failures)."""

from kneewear.io import netcdf
from kneewear.io.csv_tables import save_table
from kneewear.joblog import job_log
from kneewear.simulation.history import ContactHistory, tabulate_failures

with job_log(snakemake.log[0], snakemake.threads):
    histories = netcdf.load_all(
        ContactHistory, snakemake.input.histories, leave_out=("pressure", "slip")
    )
    save_table(tabulate_failures(list(histories)), snakemake.output.failures)
