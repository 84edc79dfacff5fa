"""Draw the figures of a contact characterisation (rule plot_characterisation)."""

from kneewear.geometry.implant import Implant
from kneewear.io import netcdf
from kneewear.io.documents import load_table, save_figures
from kneewear.joblog import job_log
from kneewear.report.designs import draw_characterisation
from kneewear.studies.designs.characterisation import CharacterisationRecord

with job_log(snakemake.log[0], snakemake.threads):
    names, knees, records = (
        snakemake.params.designs, snakemake.input.knees, snakemake.input.records
    )  # fmt: skip
    figures = draw_characterisation(
        contact=load_table(snakemake.input.contact),
        worst=load_table(snakemake.input.worst),
        implants=dict(
            zip(names, (netcdf.load(Implant, path, "implant") for path in knees), strict=True)
        ),
        records=dict(zip(names, netcdf.load_all(CharacterisationRecord, records), strict=True)),
    )
    save_figures(figures, snakemake.output.figures)
