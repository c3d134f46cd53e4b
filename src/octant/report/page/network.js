(() => {
  const slider = document.getElementById("size");
  if (slider === null) return;
  const frames = [...document.querySelectorAll(".frame")], label = document.getElementById("size-label");
  const show = () => {
    frames.forEach((frame, i) => { frame.hidden = i !== Number(slider.value); });
    label.textContent = frames[slider.value].dataset.label;
    slider.setAttribute("aria-valuetext", label.textContent);
  };
  slider.addEventListener("input", show);
  show();
})();
