"""Contact of all designs, and the worst case of the family (rule tabulate_contact)."""

import pandas as pd

from kneewear.io.documents import load_table, save_table
from kneewear.joblog import job_log
from kneewear.studies.designs.characterisation import find_worst_cases, reference_conditions

with job_log(snakemake.log[0], snakemake.threads):
    contact = pd.concat([load_table(path) for path in snakemake.input.contact], ignore_index=True)
    save_table(contact, snakemake.output.contact)
    save_table(find_worst_cases(contact), snakemake.output.worst)
    save_table(reference_conditions(contact), snakemake.output.submission)
