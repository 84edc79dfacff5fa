"""Write page, appendix and summary of a study, and whence its results come (rule write_report)."""

from kneewear import __version__
from kneewear.io.documents import save_bytes, save_json, save_text
from kneewear.report.derived import Tables
from kneewear.report.page import render_page
from kneewear.report.page_contents import (
    figure_addresses,
    figure_files,
    page_contents,
    read_figures,
    view_files,
)
from kneewear.report.pdf import write_pdf
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary
from kneewear.runs.joblog import job_log
from kneewear.runs.provenance import provenance_record, reported_findings

# Studies may have none of these.
LISTS = ("tables", "activities", "benchmarks", "calibration", "signs")

with job_log(snakemake.log[0]):
    params, given, output = snakemake.params, snakemake.input, snakemake.output
    settings = params.settings
    provenance = provenance_record(settings, list(given.data), params.benchmarks, params.logs)
    save_json(provenance, output.provenance)
    lists = {name: given.get(name, []) for name in LISTS}
    lists |= {"view": view_files(given.figures)}
    contents = page_contents(lists, settings, params.curves)
    tables, page = Tables(contents["frames"], settings), load_page(params.page)
    findings = reported_findings(settings, params.logs)
    summary = build_summary(params.page, page, tables, findings, __version__, provenance["inputs"])
    save_json(summary, output.records)
    vector, raster = (figure_files(given.figures, suffix) for suffix in ("svg", "png"))
    beside = figure_addresses(given.figures, output.page)
    drawn = read_figures(vector)
    for part in ("page", "appendix"):
        view = contents["view"] if part == "page" else None
        html = render_page(
            page, summary, tables, drawn, provenance, view, beside, part == "appendix"
        )
        save_text(html, output[part])
    save_bytes(write_pdf(summary, page, read_figures(raster)), output.summary)
