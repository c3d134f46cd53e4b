"""How wide texts of drawings are, by the advance widths of DejaVu Sans, the widest of the common sans-serif fonts.

What is placed with these widths also fits in narrower fonts. Accented letters are as wide as their letters; other
characters count as a full em, as in fonts of Chinese or Japanese.
"""

import unicodedata
from functools import lru_cache

FAMILY = "'Liberation Sans', Arial, Helvetica, 'DejaVu Sans', sans-serif"
"""The fonts of drawings, the first that there is."""
ASCENT, DESCENT = 0.93, 0.24
"""Of DejaVu Sans, in ems: a browser's box of a text reaches so far above its baseline and below."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a line, px, in a font of `size` px."""
    return _ems(text, bold) * size


def cut(text: str, size: float, most: float, bold: bool = False) -> str:
    """The text, or as much of it as `most` px hold, ending in `…`."""
    if text_width(text, size, bold) <= most:
        return text
    kept = text
    while kept and text_width(kept + "…", size, bold) > most:
        kept = kept[:-1]
    return kept.rstrip(" ,;:·") + "…"


def wrap(text: str, size: float, most: float, lines: int, bold: bool = False) -> list[str]:
    """The text's words in at most so many lines of `most` px; what does not fit ends in `…`."""
    found = [""]
    words = text.split()
    for number, word in enumerate(words):
        longer = f"{found[-1]} {word}".lstrip()
        if not found[-1] or text_width(longer, size, bold) <= most:
            found[-1] = longer
        elif len(found) < lines:
            found.append(word)
        else:
            found[-1] = " ".join([found[-1], *words[number:]])
            break
    return [cut(line, size, most, bold) for line in found]


@lru_cache(maxsize=4096)
def _ems(text: str, bold: bool) -> float:
    table = _TABLES[bold]
    return sum(table.get(sign) or _other(sign, table) for sign in text) / 1000


def _other(sign: str, table: dict[str, int]) -> int:
    if unicodedata.combining(sign):
        return 0
    return table.get(unicodedata.normalize("NFD", sign)[0], 1000)


# Thousandths of an em, read from DejaVuSans.ttf and DejaVuSans-Bold.ttf (2.37): width to characters.
_REGULAR = {
    100: "\u200a", 200: "\u2009\u202f", 227: "′", 275: "'", 278: "ijlı", 295: "IJΙΪ", 318: " ,.\u00a0·‘’",
    337: "/:;\\|", 338: "ίι", 352: "f", 361: "-", 374: "″", 390: "()[]", 392: "t", 401: "!¡²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉",
    411: "r", 460: "\"", 500: "*_`§¯°´–†‡", 518: "“”„", 521: "s", 525: "zг", 528: "⁻", 531: "?¿", 532: "з", 541: "έε",
    544: "ζ", 549: "э", 550: "cс", 557: "LΓ", 558: "ξ", 559: "ν", 575: "F", 578: "χ", 579: "kΰυ", 583: "т", 587: "ς",
    589: "κвь", 590: "•", 591: "ч", 592: "vxyγλух", 602: "πτя", 603: "PΡР", 604: "к", 605: "Þ", 609: "У", 610: "Г",
    611: "TYΤΥΫТ", 612: "o«»ðøδθοо", 613: "aа", 615: "eе", 617: "б", 630: "ß", 632: "EΕΞΣЕ", 634: "hnuήησ",
    635: "Sbdgpqþρр", 636: "$0123456789{}µμ€", 637: "√", 638: "β", 639: "л", 641: "З", 650: "ий", 654: "нп",
    656: "KΚ", 659: "άα", 660: "φψ", 669: "∆", 674: "∑", 681: "ц", 684: "AVΑΔΛА", 685: "XZΖΧХ", 686: "BΒБВЧЬ",
    691: "д", 695: "RЯ", 698: "CСЭ", 707: "ъ", 710: "К", 732: "U", 748: "NΝИЙ", 752: "HΗΠЛНП", 754: "м", 764: "Ω",
    769: "▲△◆◇", 770: "D", 775: "GÐ", 776: "Ц", 780: "&", 781: "Д", 787: "OQØΘΟΦΨО", 790: "ы", 818: "w", 833: "Ъ∞",
    837: "ω", 838: "#+<=>^~¬±×÷←↑→↓↔−≈≠≤≥✓✗", 842: "ю", 855: "ф", 861: "Ф", 863: "MΜМ", 873: "○●", 882: "Ы", 901: "ж",
    915: "ш", 942: "щ", 945: "■□", 950: "%", 969: "¼½¾⅛", 974: "mÆ", 982: "æ", 989: "W", 1000: "@©®—…™", 1069: "Ш",
    1077: "Ж", 1080: "Ю", 1094: "Щ", 1342: "‰",
}  # fmt: skip
_BOLD = {
    100: "\u200a", 200: "\u2009\u202f", 264: "′", 306: "'", 343: "ijlı", 348: " \u00a0", 365: "/\\|", 372: "IJΙΪ",
    380: ",.·‘’", 390: "ίι", 400: ":;", 415: "-", 435: "f", 438: "²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", 447: "″", 456: "!¡",
    457: "()[]", 478: "t", 493: "r", 500: "_`§¯°´–†‡", 521: "\"", 522: "г", 523: "*", 528: "⁻", 557: "έε", 580: "?¿т",
    581: "з", 582: "z", 591: "ζξ", 593: "cςсэ", 595: "s", 632: "Ξь", 633: "λв", 637: "LΓГ", 638: "τ", 639: "•",
    642: "я", 645: "xχх", 646: "«»", 652: "vyу", 657: "“”„", 665: "k", 667: "√", 675: "aΰυа", 678: "eе", 679: "к",
    681: "γν", 682: "TΤТ", 683: "EFΕΣЕ", 687: "oðøάαδθοоч", 691: "нп", 696: "$0123456789€", 697: "∆", 698: "б",
    701: "ий", 710: "κЗ", 712: "hnu{}ήη", 716: "bdgpqþβρр", 718: "∑", 719: "ß", 720: "S", 724: "YΥΫ", 725: "ZΖ",
    732: "л", 733: "PΡР", 734: "CСЭ", 736: "µμ", 738: "Þ", 741: "ц", 751: "ъ", 762: "BΒБВЬ", 769: "▲△◆◇", 770: "RЯ",
    771: "XΧУХ", 774: "AVΑΔΛА", 775: "KΚ", 779: "σ", 782: "φ", 791: "π", 794: "ψ", 808: "Чд", 812: "U", 817: "Км",
    821: "G", 830: "D", 831: "Л", 833: "∞", 837: "HNΗΝΠИЙНП", 838: "#+<=>^~¬±Ð×÷←↑→↓↔−≈≠≤≥✓✗", 850: "OQØΘΟΦΨΩО",
    869: "ω", 872: "&", 873: "○●", 891: "Д", 904: "ы", 924: "w", 928: "Ц", 939: "Ъ", 945: "■□", 972: "ю", 992: "Фф",
    995: "MΜМж", 1000: "@©®—…™", 1002: "%", 1035: "¼½¾⅛", 1036: "Ы", 1042: "m", 1048: "æ", 1062: "ш", 1085: "Æ",
    1103: "W", 1105: "щ", 1174: "Ю", 1224: "Ж", 1235: "Ш", 1326: "Щ", 1440: "‰",
}  # fmt: skip
_TABLES = tuple({sign: width for width, signs in table.items() for sign in signs} for table in (_REGULAR, _BOLD))
