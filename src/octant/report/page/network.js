(() => {
  const slider = document.getElementById("size");
  if (slider === null) return;
  const frames = [...document.querySelectorAll(".frame")], told = document.getElementById("size-told");
  const show = () => {
    frames.forEach((frame, i) => { frame.hidden = i !== Number(slider.value); });
    told.textContent = frames[slider.value].dataset.told;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.addEventListener("input", show);
  show();
})();
