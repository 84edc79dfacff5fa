"use strict";
// Tables that sort by column, filter by words and download their unrounded numbers as CSV.
(async () => {
  // Without it tables stay as they are written.
  if (!window.DecompressionStream) return;
  async function unpack(name) {
    const packed = atob(document.getElementById(name).textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  // Before the style of the page, which decides.
  const style = document.createElement("style");
  style.textContent = await unpack("table-style");
  document.head.prepend(style);
  const text = await unpack("table-library");
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
