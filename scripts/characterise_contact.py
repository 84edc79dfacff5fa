"""Contact of one design under every condition (rule characterise_contact)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import save_table
from kneewear.joblog import job_log
from kneewear.settings.contact_characterisation import CharacterisationSettings
from kneewear.settings.implant import GridSettings, TableSettings
from kneewear.settings.simulation import SimulationSettings
from kneewear.studies.designs.bench import Bench
from kneewear.studies.designs.characterisation import characterise_contact, tabulate_contact

with job_log(snakemake.log[0], snakemake.threads):
    settings = CharacterisationSettings(**snakemake.params.characterisation)
    bench = Bench(
        implant=netcdf.load(Implant, snakemake.input.knee, "implant"),
        grid=GridSettings(**snakemake.params.grid),
        table=TableSettings(**snakemake.params.table),
        settings=SimulationSettings(**snakemake.params.simulation),
    )
    record = characterise_contact(bench, settings)
    netcdf.save(record, snakemake.output.record)
    contact = tabulate_contact(record, snakemake.wildcards.design, settings.pressures_mpa)
    save_table(contact, snakemake.output.contact)
