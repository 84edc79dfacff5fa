"use strict";
// Samples of a study: an output over an input; a sample that is chosen is marked and read out.
(() => {
  const find = (name) => document.getElementById(`samples-${name}`);
  const data = JSON.parse(find("data").textContent);
  const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [340, 56, 20, 16, 40];
  const text = (x, y, words, options = "") => `<text x="${x}" y="${y}" ${options}>${words}</text>`;
  const typeset = (number) => number.replace("-", "\u2212");
  const read = (value) => typeset(value.toLocaleString("en", { maximumSignificantDigits: 3 }));
  const named = ({ label, unit }) => (unit ? `${label} (${unit})` : label);

  // Round steps between two values, about five.
  function steps(low, high) {
    const span = high - low || Math.abs(high) || 1;
    const power = 10 ** Math.floor(Math.log10(span / 5));
    const step = power * [1, 2, 5, 10].find((one) => one * power * 5 >= span);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => [(first + i) * step, typeset(((first + i) * step).toFixed(decimals))]);
  }

  function draw() {
    const width = find("plot").clientWidth;
    if (!width) return;
    const across = Number(find("input").value);
    const up = Number(find("output").value);
    const { limit } = data.outputs[up];
    const place = ({ values }) => [values[across], values[data.inputs.length + up]];
    const shown = data.samples.map((one, i) => [one, i, ...place(one)]).filter(([, , x, y]) => x !== null && y !== null);
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const [left, right] = ends(shown.map((one) => one[2]));
    const highest = 1.04 * Math.max(...shown.map((one) => one[3]), limit || 0);
    const lowest = Math.min(0, ...shown.map((one) => one[3]));
    const x = (value) => LEFT + 10 + ((width - LEFT - RIGHT - 20) * (value - left)) / (right - left || 1);
    const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (value - lowest)) / (highest - lowest || 1);
    const parts = steps(lowest, highest).map(([at, words]) => `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(at)}" y2="${y(at)}" class="grid"/>${text(LEFT - 7, y(at) + 4, words, 'text-anchor="end"')}`);
    steps(left, right).forEach(([at, words]) => parts.push(text(x(at), HEIGHT - BOTTOM + 18, words, 'text-anchor="middle"')));
    parts.push(text(width - RIGHT, HEIGHT - 5, named(data.inputs[across]), 'text-anchor="end"'));
    if (limit) {
      parts.push(`<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(limit)}" y2="${y(limit)}" class="limit"/>`);
      parts.push(text(LEFT + 6, y(limit) - 6, `limit of validity ${limit}`, 'class="limit-name"'));
    }
    const chosen = Number(find("sample").value);
    shown.forEach(([one, i, at, value]) => {
      parts.push(`<circle cx="${x(at)}" cy="${y(value)}" r="${i === chosen ? 7 : 4}" class="${i === chosen ? "chosen mine" : ""} ${one.outside ? "outside" : ""}"/>`);
    });
    shown.forEach(([one, i, at, value]) => parts.push(`<circle cx="${x(at)}" cy="${y(value)}" r="9" class="touch" data-sample="${i}"><title>${one.label}</title></circle>`));
    const sample = data.samples[chosen];
    const said = [...data.inputs, data.outputs[up]].map(({ label, unit }, i) => {
      const value = i < data.inputs.length ? sample.values[i] : sample.values[data.inputs.length + up];
      return value === null ? `${label} not known` : `${label} ${read(value)} ${unit}`.trim();
    });
    const whole = `${sample.label}: ${said.join(", ")}${sample.outside ? ", outside validity" : ""}.`;
    find("plot").innerHTML = `<svg viewBox="0 0 ${width} ${HEIGHT}" height="${HEIGHT}" role="img" aria-label="${named(data.outputs[up])} over ${named(data.inputs[across])}, one point per sample. ${whole}">${parts.join("")}</svg>`;
    const count = data.count > data.samples.length ? ` ${data.samples.length} of ${data.count} samples are shown.` : "";
    find("message").textContent = `${whole} Open circles are outside validity.${count}`;
  }

  ["input", "output", "sample"].forEach((name) => find(name).addEventListener("change", draw));
  find("plot").addEventListener("click", (event) => {
    if (!event.target.dataset.sample) return;
    find("sample").value = event.target.dataset.sample;
    draw();
  });
  document.getElementById("samples-chart").hidden = false;
  new ResizeObserver(draw).observe(find("plot"));
})();
