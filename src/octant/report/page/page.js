"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const palettes = {
    light: { ink: "#16191d", soft: "#565d66", line: "#d9dde1", faint: "#eceef0", accent: "#0b5a9d", band: "rgba(11,90,157,.16)", paper: "#ffffff" },
    dark: { ink: "#e8eaed", soft: "#a4abb3", line: "#363c43", faint: "#24292e", accent: "#7ab8f5", band: "rgba(122,184,245,.2)", paper: "#14171a" },
  };
  const symbols = ["circle", "square-open", "diamond", "triangle-up-open", "cross", "x-open", "star", "hexagon-open"];
  const dashes = ["solid", "dash", "dot", "dashdot"];
  const patterns = ["", "/", ".", "x", "-", "\\", "|", "+"];
  const font = getComputedStyle(document.documentElement).getPropertyValue("--text").trim();
  const settings = { displayModeBar: false, responsive: true, doubleClick: "reset" };
  let printing = false;
  const drawn = new Map();  // element -> function that describes its picture

  const palette = () => palettes[dark.matches && !printing ? "dark" : "light"];
  const si = (value, unit) => {
    if (unit === "1") return String(Number(value.toPrecision(4)));
    if (value === 0 || !Number.isFinite(value)) return `${value} ${unit}`;
    const exponent = Math.min(Math.max(Math.floor(Math.log10(Math.abs(value)) / 3), -4), 6);
    return `${(value / 1000 ** exponent).toPrecision(4)} ${["p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"][exponent + 4]}${unit}`;
  };
  // Texts come from people and files: Plotly reads a few HTML tags, so none may reach it.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const tick = (value, unit) => [value, value === 0 ? "0" : si(value, unit).replace(/\.?0+ /, " ")];
  const steps = (top, unit) => {  // from 0 in four to eight round steps
    const decade = 10 ** Math.floor(Math.log10(top / 4)), step = [5, 2, 1].find((factor) => factor * decade <= top / 4) * decade;
    return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => tick(i * step, unit));
  };
  const decades = (low, high, unit) => {  // at 1, 2 and 5 of each decade; only at 1 where there are many
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), factors = last - first > 3 ? [1] : [1, 2, 5];
    return Array.from({ length: last - first + 1 }, (_, i) => factors.map((factor) => tick(factor * 10 ** (first + i), unit))).flat();
  };

  const axis = (spec, colours) => ({
    type: spec.log ? "log" : "linear", rangemode: "tozero",
    title: { text: plain(spec.title), font: { color: colours.soft, size: 13 }, standoff: 10 },
    tickvals: spec.ticks.map((tick) => tick[0]), ticktext: spec.ticks.map((tick) => plain(tick[1]).replace(/\n/g, "<br>")),
    autorange: spec.down ? "reversed" : true, showgrid: !spec.down,
    gridcolor: colours.faint, linecolor: colours.line, zeroline: false, tickfont: { color: colours.soft, size: 12 },
    automargin: true, fixedrange: true, ticks: "outside", ticklen: 4, tickcolor: colours.line,
  });
  const layout = (colours, more) => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: font, color: colours.ink, size: 13 },
    margin: { l: 8, r: 12, t: 22, b: 8 }, hovermode: "closest", dragmode: false,
    hoverlabel: { bgcolor: colours.paper, bordercolor: colours.line, font: { color: colours.ink, family: font } },
    legend: { orientation: "h", traceorder: "normal", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12, color: colours.ink }, itemclick: "toggle" },
    ...more,
  });

  const roles = (series) => {  // what was measured first takes the accent, the rest are told apart by shape and dash
    let measured = 0, lines = 0;
    return series.map((one) => (one.kind === "line" ? { line: lines++ } : { measured: measured++ }));
  };
  const trace = (one, role, colours, picture) => {
    const first = role.measured === 0;
    const colour = role.measured === undefined ? colours.soft : first ? colours.accent : role.measured % 2 ? colours.ink : colours.soft;
    const text = one.x.map((x, i) => `${plain(one.labels[i] || one.name)}<br>${si(one.y[i], picture.y.unit)}`);
    const base = { name: plain(one.name), x: one.x, y: one.y, text, hovertemplate: "%{text}<extra></extra>" };
    const error = (middle, tint) => (one.high.length ? { type: "data", symmetric: false, array: one.high.map((h, i) => h - middle[i]), arrayminus: one.low.map((l, i) => middle[i] - l), color: tint, thickness: 1, width: 0 } : undefined);
    if (one.kind === "bars") return { ...base, y: one.y.map((y) => Math.max(y, 0.5)), type: "scatter", mode: "lines", line: { shape: "hvh", color: colour, width: 1.75, dash: dashes[role.measured % 4] }, fill: first ? "tozeroy" : "none", fillcolor: colours.band };
    if (one.kind === "across") return { ...base, text: one.x.map((x, i) => `${plain(one.labels[i])}<br>${si(x, picture.x.unit)}`), textposition: "none", type: "bar", orientation: "h", marker: { color: first ? colours.band : "rgba(0,0,0,0)", line: { color: colour, width: 1.5 }, pattern: first ? undefined : { shape: "/", size: 6, solidity: 0.2, fgcolor: colours.soft, bgcolor: "rgba(0,0,0,0)" } }, error_x: { ...error(one.x, colours.ink), thickness: 2 } };
    if (one.kind === "stack") return { ...base, text: one.x.map((x, i) => `${plain(one.labels[i])}<br>${plain(one.name)}: ${si(x, picture.x.unit)}`), textposition: "none", type: "bar", orientation: "h", marker: { color: first ? colours.accent : colours.band, line: { color: colours.paper, width: 1 }, pattern: first ? undefined : { shape: patterns[role.measured % patterns.length], size: 6, solidity: 0.35, fgcolor: colours.soft, bgcolor: colours.faint } } };
    if (one.kind === "line") return { ...base, type: "scatter", mode: "lines", line: { color: colour, width: 1.5, dash: dashes[role.line % 4] } };
    const marker = { color: colour, size: one.kind === "points" ? 10 : 6, symbol: symbols[role.measured % symbols.length], line: { width: 1.5, color: colour } };
    return { ...base, type: "scatter", mode: one.kind === "points" ? "markers" : "lines+markers", marker, line: { color: colour, width: 1.75, dash: dashes[role.measured % 4] }, error_y: error(one.y, colour) };
  };
  const describe = (whole) => () => {
    const picture = whole.panels[0];
    const colours = palette(), role = roles(picture.series);
    const shapes = picture.marks.map((mark) => ({ type: "line", x0: mark.at, x1: mark.at, yref: "paper", y0: 0, y1: 1, line: { color: colours.soft, width: 1, dash: "dot" }, layer: "below" }));
    const annotations = picture.marks.map((mark) => ({ x: picture.x.log ? Math.log10(mark.at) : mark.at, yref: "paper", y: 1, yanchor: "top", xanchor: "right", textangle: -90, text: plain(mark.label), showarrow: false, font: { color: colours.soft, size: 11, shadow: `0 0 2px ${colours.paper}, 0 0 3px ${colours.paper}` }, borderpad: 1 }));
    return {
      traces: picture.series.map((one, i) => trace(one, role[i], colours, picture)),
      layout: layout(colours, { xaxis: axis(picture.x, colours), yaxis: axis(picture.y, colours), shapes, annotations, showlegend: picture.series.length > 1, barmode: picture.series.some((one) => one.kind === "stack") ? "stack" : "group" }),
    };
  };

  const inflated = async (text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  const unpacked = async (text) => JSON.parse(await inflated(text));
  const describeSamples = (figure, values) => () => {
    const colours = palette();
    let shown = 0;
    const traces = values.map((some, i) => {
      const from = shown;
      shown += some.length;
      return { type: "scatter", mode: "markers", name: `launch ${i + 1}`, x: some.map((_, place) => place + from), y: some, text: some.map((y) => si(y, figure.unit)), hovertemplate: "sample %{x}<br>%{text}<extra></extra>", marker: { size: 4, color: i % 2 ? colours.soft : colours.ink, opacity: 0.55, symbol: symbols[i % symbols.length] } };
    });
    const [low, middle, high] = figure.interval;
    const span = { xref: "paper", x0: 0, x1: 1 };
    const shapes = [
      { type: "rect", ...span, y0: low, y1: high, fillcolor: colours.band, line: { width: 0 }, layer: "below" },
      { type: "line", ...span, y0: middle, y1: middle, line: { color: colours.accent, width: 1.5 } },
    ];
    const limits = values.flat().reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const wide = limits[0] > 0 && limits[1] / limits[0] > 20;
    const x = { ...axis({ title: "sample", log: false, ticks: [] }, colours), tickvals: undefined, ticktext: undefined };
    const y = axis({ title: figure.metric, log: wide, ticks: wide ? decades(...limits, figure.unit) : steps(limits[1], figure.unit) }, colours);
    return { traces, layout: layout(colours, { xaxis: x, yaxis: y, shapes, showlegend: traces.length > 1 }), note: shown < figure.count ? `Drawn: ${shown} of ${figure.count} samples.` : "" };
  };

  const draw = (element, how) => {
    const picture = how();
    drawn.set(element, how);
    return Plotly.react(element, picture.traces, picture.layout, settings).then(() => {
      for (const svg of element.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true");
      element.dataset.drawn = "yes";
      return picture;
    });
  };
  const drawSamples = async (details) => {
    const element = details.querySelector(".plot"), figure = data.figures[details.dataset.figure];
    if (!details.open || element === null || drawn.has(element)) return;
    await library;
    const picture = await draw(element, describeSamples(figure, await unpacked(figure.samples)));
    details.querySelector(".drawn").textContent = picture.note;
  };
  const redraw = () => { for (const [element, how] of drawn) draw(element, how); };

  const plots = [...document.querySelectorAll(".plot[data-picture]")];
  const next = () => { const element = plots.shift(); if (element) draw(element, describe(data.pictures[element.dataset.picture])).then(() => requestAnimationFrame(next)); else document.body.dataset.ready = "yes"; };
  const library = inflated(document.getElementById("plotly").textContent).then((text) => {
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
  });
  library.then(next, () => document.querySelector("header").insertAdjacentHTML("beforeend", '<p class="warning">This browser is too old to unpack the pictures; the numbers of each stand below its place.</p>'));
  for (const details of document.querySelectorAll("details.samples")) details.addEventListener("toggle", () => drawSamples(details));
  const reveal = () => {
    const target = /^#figure-\d+$/.test(location.hash) ? document.querySelector(location.hash) : null;
    if (target) { target.open = true; target.scrollIntoView(); target.querySelector("summary").focus({ preventScroll: true }); }
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  dark.addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => { printing = true; redraw(); });
  window.addEventListener("afterprint", () => { printing = false; redraw(); });
  document.getElementById("download").addEventListener("click", async () => {
    const figures = [];
    for (const figure of data.figures) figures.push({ ...figure, samples: await unpacked(figure.samples) });
    const run = data.document ? await unpacked(data.document) : data.run;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(figures.length ? { ...run, samples: figures } : run)], { type: "application/json" }));
    link.download = `octant-${data.run.run}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
