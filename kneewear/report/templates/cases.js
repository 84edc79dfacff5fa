"use strict";
// Cases of a study over body mass, one line per thickness; a case that is chosen is that of the view in space.
(() => {
  const find = (name) => document.getElementById(`cases-${name}`);
  const data = JSON.parse(find("data").textContent);
  const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 44, 64, 16, 40];
  const unique = (values) => [...new Set(values)].sort((a, b) => a - b);
  const thicknesses = unique(data.cases.map((one) => one.thickness_mm));
  const masses = unique(data.cases.map((one) => one.body_mass_kg));
  const text = (x, y, words, options = "") => `<text x="${x}" y="${y}" ${options}>${words}</text>`;

  // Round steps, at most five.
  function steps(top) {
    const power = 10 ** Math.floor(Math.log10(top / 5));
    const step = power * [1, 2, 5, 10].find((one) => one * power * 5 >= top);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => [i * step, (i * step).toFixed(decimals)]);
  }

  function draw() {
    const width = find("plot").clientWidth;
    if (!width) return;
    const number = Number(find("quantity").value);
    const { label, unit, limit } = data.quantities[number];
    const chosen = data.cases[Number(find("case").value)];
    const value = (one) => one.values[number];
    const top = 1.04 * Math.max(...data.cases.map(value), limit || 0);
    const span = masses[masses.length - 1] - masses[0] || 1;
    const x = (mass) => LEFT + 12 + ((width - LEFT - RIGHT - 24) * (mass - masses[0])) / span;
    const y = (height) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * height) / top;
    const parts = steps(top).map(([at, words]) => `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(at)}" y2="${y(at)}" class="grid"/>${text(LEFT - 7, y(at) + 4, words, 'text-anchor="end"')}`);
    masses.forEach((mass) => parts.push(text(x(mass), HEIGHT - BOTTOM + 18, mass, 'text-anchor="middle"')));
    parts.push(text(width - RIGHT, HEIGHT - 5, "body mass (kg)", 'text-anchor="end"'));
    if (limit) {
      parts.push(`<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(limit)}" y2="${y(limit)}" class="limit"/>`);
      parts.push(text(LEFT + 6, y(limit) - 6, `limit of validity ${limit}`, 'class="limit-name"'));
    }
    const rows = thicknesses.map((thickness) => data.cases.filter((one) => one.thickness_mm === thickness).sort((a, b) => a.body_mass_kg - b.body_mass_kg));
    rows.forEach((row) => {
      const mine = row[0].thickness_mm === chosen.thickness_mm;
      parts.push(`<path d="M${row.map((one) => `${x(one.body_mass_kg)} ${y(value(one))}`).join("L")}" class="${mine ? "mine" : "other"}"/>`);
    });
    // Names at the ends of lines, none over another.
    const names = rows.map((row) => [row[row.length - 1], y(value(row[row.length - 1]))]).sort((a, b) => a[1] - b[1]);
    for (let i = 1; i < names.length; i += 1) names[i][1] = Math.max(names[i][1], names[i - 1][1] + 15);
    names.forEach(([one, at]) => parts.push(text(x(one.body_mass_kg) + 12, at + 4, `${one.thickness_mm} mm`, one.thickness_mm === chosen.thickness_mm ? 'class="mine-name"' : "")));
    data.cases.forEach((one, i) => {
      const kind = `${one === chosen ? "chosen" : ""} ${one.outside ? "outside" : ""} ${one.thickness_mm === chosen.thickness_mm ? "mine" : "other"}`;
      const words = `${one.label}: ${value(one).toPrecision(3)} ${unit}`;
      parts.push(`<circle cx="${x(one.body_mass_kg)}" cy="${y(value(one))}" r="${one === chosen ? 7 : 4}" class="${kind}"/>`);
      parts.push(`<circle cx="${x(one.body_mass_kg)}" cy="${y(value(one))}" r="12" class="touch" data-case="${i}"><title>${words}</title></circle>`);
    });
    const found = `${label}, ${chosen.label}: ${value(chosen).toPrecision(3)} ${unit}${chosen.outside ? ", outside validity" : ""}.`;
    find("plot").innerHTML = `<svg viewBox="0 0 ${width} ${HEIGHT}" height="${HEIGHT}" role="img" aria-label="${label} over body mass, one line per insert thickness. ${found}">${parts.join("")}</svg>`;
    find("message").textContent = `${found} Open circles are outside validity.`;
  }

  // The same case in the view, where it has it.
  function show() {
    draw();
    const select = document.getElementById("viewer-case");
    const { name } = data.cases[Number(find("case").value)];
    if (select && [...select.options].some((option) => option.value === name) && select.value !== name) {
      select.value = name;
      select.dispatchEvent(new Event("change"));
    }
  }
  find("quantity").addEventListener("change", draw);
  find("case").addEventListener("change", show);
  find("plot").addEventListener("click", (event) => {
    if (!event.target.dataset.case) return;
    find("case").value = event.target.dataset.case;
    show();
  });
  document.getElementById("viewer-case")?.addEventListener("change", (event) => {
    const number = data.cases.findIndex((one) => one.name === event.target.value);
    if (number < 0) return;
    find("case").value = number;
    draw();
  });
  document.getElementById("cases-chart").hidden = false;
  new ResizeObserver(draw).observe(find("plot"));
})();
