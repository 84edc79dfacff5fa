"use strict";
// Tables that sort by column, filter by words and download their unrounded numbers as CSV.
(async () => {
  const text = document.getElementById("table-library").textContent;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const { default: DataTable } = await import(address);
  URL.revokeObjectURL(address);
  for (const table of document.querySelectorAll("table.data")) {
    const title = table.caption.textContent;
    const csv = { extend: "csv", text: "CSV", filename: title.replace(/[^\w.-]+/g, "_"),
      titleAttr: `Download: ${title}`, escapeExcelFormula: true,
      exportOptions: { orthogonal: "sort" } };
    new DataTable(table, {
      paging: false, info: false, order: [], autoWidth: false,
      searching: table.tBodies[0].rows.length > 7,
      language: { search: "Filter:" },
      layout: { topStart: null, topEnd: null, bottomStart: { buttons: [csv] }, bottomEnd: "search" },
    });
  }
  document.body.dataset.tables = "ready";
})();
// Long tables are printed in full.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
});
