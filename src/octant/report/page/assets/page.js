"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const status = document.getElementById("status");
  const tell = (text) => { status.textContent = ""; setTimeout(() => { status.textContent = text; }, 50); };
  const inflated = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  if (!window.DecompressionStream) {
    document.getElementById("content").insertAdjacentHTML("beforebegin", '<header><p class="warning">This browser is too old to unpack samples, details, drawings and further figures; the rest is shown.</p></header>');
  }
  const unpacked = async (text) => JSON.parse(await inflated(text));
  const saved = (name, type, ...content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(content, { type }));
    link.download = name.replace(/[^\w.-]+/g, "-");
    link.click();
    URL.revokeObjectURL(link.href);
    tell(`${link.download} saved`);
  };

  const copied = async (element) => {
    try { await navigator.clipboard.writeText(element.textContent); } catch {  // no permission, or no secure page
      getSelection().selectAllChildren(element);
      document.execCommand("copy");
      getSelection().removeAllRanges();
    }
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await copied(button.parentElement.querySelector("code"));
      button.textContent = "copied";
      tell("copied");
      setTimeout(() => { button.textContent = "copy"; }, 2000);
    });
  }

  for (const button of document.querySelectorAll("[data-svg]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const section = button.closest(".picture"), exported = (await unpacked(data.exports))[section.id];
      saved(`${section.id}-${button.dataset.svg}.svg`, "image/svg+xml", exported[button.dataset.svg]);
    });
  }

  const si = (value, unit) => {
    if (unit === "1" || value === 0) return `${Number(value.toPrecision(4))}${unit === "1" ? "" : ` ${unit}`}`;
    const exponent = unit === "ulp" ? 0 : Math.min(Math.max(Math.floor(Math.log10(Math.abs(value)) / 3), -4), 6);
    return `${Number((value / 1000 ** exponent).toPrecision(4))} ${["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"][exponent + 4]}${unit}`;
  };
  const steps = (low, high) => {  // three to seven round steps
    const decade = 10 ** Math.floor(Math.log10((high - low) / 3)), step = decade * [5, 2, 1].find((factor) => factor * decade <= (high - low) / 3);
    const first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
  };
  const decades = (low, high) => {  // 1, 2 and 5 of each decade; of many decades only 1
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), factors = last - first > 2 ? [1] : [1, 2, 5];
    const all = Array.from({ length: last - first + 1 }, (_, i) => factors.map((factor) => factor * 10 ** (first + i))).flat();
    return all.filter((tick) => tick >= low && tick <= high);
  };
  const shape = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };
  const bounds = (launches) => {
    let low = Infinity, high = -Infinity;
    for (const samples of launches) for (const y of samples) { low = Math.min(low, y); high = Math.max(high, y); }
    return [low, high];
  };
  const drawSamples = (place, figure, launches) => {  // launches in order, separated by rules
    const width = Math.max(288, Math.min(780, place.clientWidth)), height = 230, left = 76, right = width - 8, top = 10, bottom = height - 34;
    const count = launches.reduce((sum, samples) => sum + samples.length, 0);
    let [low, high] = bounds(launches);
    if (low === high) { low -= Math.abs(low) / 10 || 1; high += Math.abs(high) / 10 || 1; }
    const log = low > 0 && high > 20 * low, scaled = log ? Math.log10 : (y) => y;
    const x = (i) => left + ((i + 0.5) / count) * (right - left);
    const y = (value) => bottom - ((scaled(value) - scaled(low)) / (scaled(high) - scaled(low))) * (bottom - top);
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    for (const tick of (log ? decades : steps)(low, high)) {
      svg.append(shape("path", { class: "rule", d: `M${left} ${y(tick)}H${right}` }), shape("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, si(tick, figure.unit)));
    }
    let i = 0, dots = "", rules = "";
    for (const samples of launches) {
      if (i) rules += `M${left + (i / count) * (right - left)} ${top}V${bottom}`;
      for (const value of samples) dots += `M${x(i++).toFixed(1)} ${y(value).toFixed(1)}h0`;
    }
    if (figure.interval) {
      const [least, middle, most] = figure.interval.map((value) => y(Math.min(Math.max(value, low), high)));
      svg.append(shape("rect", { class: "band", x: left, width: right - left, y: most, height: Math.max(1, least - most) }), shape("path", { class: "middle", d: `M${left} ${middle}H${right}` }));
    }
    svg.append(shape("path", { class: "rule", d: rules }), shape("path", { class: "every", d: dots }));
    svg.append(shape("text", { x: left, y: height - 12 }, launches.length > 1 ? `samples in time order, ${launches.length} launches` : "samples in time order"));
    place.replaceChildren(svg);
    const note = place.parentElement.querySelector("[data-drawn]");
    if (note && count < figure.count) note.textContent = ` Drawn: ${count} of ${figure.count} samples, the least and the greatest among them.`;
  };
  const opened = async (row) => {
    const body = row.closest("tbody"), details = body.querySelector("[data-details]:empty");
    if (!row.open || !details) return;
    details.insertAdjacentHTML("beforeend", (await unpacked(data.details))[details.dataset.details]);
    const place = body.querySelector(".samples:empty"), figure = await unpacked(data.figures[details.dataset.details]);
    if (place) drawSamples(place, figure, figure.samples);
  };
  const watch = (within) => {
    for (const row of within.querySelectorAll("details.row")) row.addEventListener("toggle", () => opened(row));
  };
  watch(document);

  for (const [event, open] of [["beforeprint", true], ["afterprint", false]]) {  // letters of the table need their notes
    window.addEventListener(event, () => { for (const one of document.querySelectorAll(".footnotes")) one.open = open; });
  }

  const further = document.getElementById("further");  // rows that are unpacked on opening
  const filled = async () => {
    if (further && data.further && !further.dataset.filled) {
      further.dataset.filled = "yes";
      further.insertAdjacentHTML("beforeend", await inflated(data.further));
      watch(further);
    }
  };
  further?.addEventListener("toggle", filled);
  const reveal = async () => {
    if (!/^#figure-\d+$/.test(location.hash)) return;
    if (!document.querySelector(location.hash) && further) { await filled(); further.open = true; }
    const row = document.querySelector(`${location.hash} details.row`);
    if (!row) return;
    row.open = true;
    row.scrollIntoView();
    row.querySelector("summary").focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  const download = document.getElementById("download");
  if (download) {
    download.hidden = false;
    download.addEventListener("click", async () => {
      const content = typeof data.document === "string" ? await unpacked(data.document) : data.document;
      const samples = [];
      for (const figure of data.figures ?? []) samples.push(await unpacked(figure));
      saved(`octant-${data.run}.json`, "application/json", JSON.stringify(samples.length ? { ...content, samples } : content));
    });
  }
  window.octant = { unpacked };
  document.body.dataset.ready = "yes";
})();
