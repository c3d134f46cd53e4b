(() => {
  const slider = document.getElementById("size");
  if (slider === null) return;
  const frame = document.getElementById("frame"), label = document.getElementById("size-label");
  const data = JSON.parse(document.getElementById("data").textContent);
  const ready = window.octant.unpacked(data.frames).then((frames) => {
    const show = () => {
      const [name, drawn] = frames[slider.value];
      frame.innerHTML = drawn;
      label.textContent = name;
      slider.setAttribute("aria-valuetext", name);
    };
    slider.addEventListener("input", show);
    slider.disabled = false;
    show();
  });
  ready.then(() => { frame.dataset.ready = ""; });
})();
