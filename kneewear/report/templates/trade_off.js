"use strict";
(() => {
  const find = (name) => document.getElementById(`trade-off-${name}`);
  const data = JSON.parse(find("data").textContent);
  const bounds = { thickness: data.thickness_mm, mass: data.body_mass_kg };
  const units = { thickness: "mm", mass: "kg" };
  const words = { thickness: "insert thickness", mass: "body mass" };
  const minus = (text) => text.replace("-", "\u2212");
  const shown = (value) => minus(
    Math.abs(value) >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3))));
  const inside = (name, value) => value >= bounds[name][0] && value <= bounds[name][1];

  // y = x . a; the mean within t s sqrt(g), a new case within t s sqrt(1 + g), g = x . (X'X)^-1 . x.
  function predict(fit, inverse, x) {
    const dot = (row) => row.reduce((sum, value, i) => sum + value * x[i], 0);
    const spread = dot(inverse.map(dot)), half = data.quantile * fit.deviation;
    return [dot(fit.coefficients), half * Math.sqrt(spread), half * Math.sqrt(1 + spread)];
  }

  const span = (low, high) => `${shown(low)} to ${shown(high)}`;

  // Monotone in both; only where the plane is not enough.
  function powerLaw(fit, thickness, mass) {
    if (!fit.power) return "the plane is enough";
    const x = [1, Math.log(thickness), Math.log(mass)];
    const [value, , half] = predict(fit.power, data.logarithmic_inverse, x);
    return `${shown(Math.exp(value))} (${span(Math.exp(value - half), Math.exp(value + half))})`;
  }

  // The thickness that undoes a change in mass: a1 dh + a2 dm = 0.
  function offset(fit, thickness, mass, change) {
    const more = -fit.coefficients[2] * change / fit.coefficients[1];
    if (!inside("mass", mass + change)) return "\u2013";
    if (!inside("thickness", thickness + more)) return "outside the simulated range";
    return `${more > 0 ? "+" : ""}${minus(more.toFixed(2))} mm`;
  }

  function refusals(values, change) {
    const found = [];
    for (const name of ["thickness", "mass"]) {
      const [low, high] = bounds[name];
      const wrong = !inside(name, values[name]);
      find(name).setAttribute("aria-invalid", String(wrong));
      if (wrong) {
        found.push(`No prediction: the ${words[name]} must be within what was simulated, ` +
          `${low} to ${high} ${units[name]}.`);
      }
    }
    const wrong = !found.length && !inside("mass", values.mass + change);
    find("change").setAttribute("aria-invalid", String(wrong));
    if (wrong) {
      const [low, high] = bounds.mass;
      found.push(`No equivalent thickness: the changed mass would leave the simulated ` +
        `${low} to ${high} kg.`);
    }
    return found;
  }

  function show() {
    const values = { thickness: find("thickness").valueAsNumber, mass: find("mass").valueAsNumber };
    const change = find("change").valueAsNumber;
    find("message").textContent = refusals(values, change).join(" ");
    const known = inside("thickness", values.thickness) && inside("mass", values.mass);
    const life = data.lives.length > 1 ? find("life").value : null;
    const rows = data.fits.filter((fit) => !life || fit.life === life).map((fit) => {
      let cells = Array(5).fill("\u2013");
      if (known) {
        const x = [1, values.thickness, values.mass];
        const [value, mean, single] = predict(fit, data.inverse, x);
        cells = [`${shown(value)} ${fit.unit}`, span(value - mean, value + mean),
          span(value - single, value + single), powerLaw(fit, values.thickness, values.mass),
          offset(fit, values.thickness, values.mass, change)];
      }
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = fit.name;
      row.append(head, ...[fit.side, ...cells].map((text, i) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        if (i === 0) cell.className = "text";
        return cell;
      }));
      return row;
    });
    find("table").tBodies[0].replaceChildren(...rows);
  }

  for (const name of ["thickness", "mass"]) {
    [find(name).min, find(name).max] = bounds[name];
    find(name).value = (bounds[name][0] + bounds[name][1]) / 2;
  }
  data.lives.forEach((name) => find("life").add(new Option(name, name)));
  find("life-label").hidden = data.lives.length < 2;
  for (const name of ["thickness", "mass", "change", "life"]) find(name).addEventListener("input", show);
  document.getElementById("trade-off").hidden = find("table").hidden = false;
  show();
})();
