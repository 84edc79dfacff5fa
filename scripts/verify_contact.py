"""Press known shapes with the contact engine and compare (rule verify_contact)."""

from kneewear.io.csv_tables import save_table
from kneewear.joblog import job_log
from kneewear.verification.comparison import comparison_table
from kneewear.verification.contact import (
    compare_contacts,
    refine_contacts,
    vary_active_elements,
)
from kneewear.verification.sphere_models import compare_sphere_models

with job_log(snakemake.log[0], snakemake.threads):
    seed = snakemake.params.seed
    save_table(comparison_table(compare_contacts(seed)), snakemake.output.verification)
    save_table(refine_contacts(seed), snakemake.output.refinement)
    save_table(vary_active_elements(seed), snakemake.output.active_elements)
    save_table(compare_sphere_models(), snakemake.output.sphere_models)
