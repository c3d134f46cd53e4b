"""Boxes of the texts of drawings as a browser has them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

MEASURE = """() => {
  const size = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
  return [...document.querySelectorAll("svg.chart")].filter((s) => s.checkVisibility()).map((svg) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => {
      const b = text.getBBox(), m = text.getScreenCTM(), scale = size({x: m.a, y: m.b}, {x: 0, y: 0});
      const ink = 0.17 * b.height;  // a box reaches above capitals
      const right = b.x + b.width, bottom = b.y + b.height;
      const corners = [[b.x, b.y + ink], [right, b.y + ink], [right, bottom], [b.x, bottom]]
        .map(([x, y]) => [m.a * x + m.c * y + m.e - frame.left, m.b * x + m.d * y + m.f - frame.top]);
      return {text: text.firstChild.data, corners, px: scale * parseFloat(getComputedStyle(text).fontSize)};
    });
    return {id: svg.getAttribute("aria-label"), width: frame.width, height: frame.height, texts};
  });
}"""


def depth(one: list[list[float]], other: list[list[float]]) -> float:
    """By how many px two convex shapes overlap: the least push that parts them."""
    least = float("inf")
    for shape in (one, other):
        for i, (x, y) in enumerate(shape):
            nx, ny = shape[i - 1][1] - y, x - shape[i - 1][0]
            length = (nx * nx + ny * ny) ** 0.5 or 1.0
            first, second = ([(nx * px + ny * py) / length for px, py in s] for s in (one, other))
            least = min(least, min(max(first), max(second)) - max(min(first), min(second)))
    return least


def faults(page: "Page") -> list[str]:
    """Texts of the pictures that are shown that leave their picture, cover another or are under 11 px on the screen."""
    found = []
    for svg in page.evaluate(MEASURE):
        texts = svg["texts"]
        for number, one in enumerate(texts):
            if one["px"] < 11:
                found.append(f"{svg['id']}: “{one['text']}” is of {one['px']:.1f} px")
            if any(not (-1 <= x <= svg["width"] + 1 and -1 <= y <= svg["height"] + 1) for x, y in one["corners"]):
                found.append(f"{svg['id']}: “{one['text']}” leaves its box")
            over = [other["text"] for other in texts[:number] if depth(one["corners"], other["corners"]) > 2]
            found += [f"{svg['id']}: “{one['text']}” covers “{text}”" for text in over]
    return found
