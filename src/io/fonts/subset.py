#!/usr/bin/env python3
"""Makes the fonts of this folder from Liberation 2 (pip install fonttools): Latin, Greek, Cyrillic, some signs.

    python3 subset.py /usr/share/fonts/truetype/liberation2

Two superscripts that the originals lack are made from their own glyphs. The licence reserves the name
Liberation, so the results have another.
"""

import sys

from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FACES = {"Sans-Regular": "plain", "Sans-Bold": "bold", "Serif-Italic": "math", "Serif-Regular": "serif"}
SIGNS = "–—‘’“”…·•ℓ≤≥≠≈√∞−×±²³¹⁰⁴⁵⁶⁷⁸⁹⁻→←↑↓°½¼¾□\ufffd"
CODES = [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3D7), *range(0x401, 0x460), *map(ord, SIGNS)]


def add(font, code, source, scale, rise):
    """A smaller, raised copy of another glyph."""
    cmap, glyphs = font.getBestCmap(), font["glyf"]
    name = f"uni{code:04X}"
    pen = TTGlyphPen(None)
    font.getGlyphSet()[cmap[ord(source)]].draw(TransformPen(pen, (scale, 0, 0, scale, 0, rise)))
    font.setGlyphOrder([*font.getGlyphOrder(), name])
    glyphs[name] = pen.glyph()
    advance, bearing = font["hmtx"][cmap[ord(source)]]
    font["hmtx"][name] = (round(advance * scale), round(bearing * scale))
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[code] = name


for face, name in FACES.items():
    font = TTFont(f"{sys.argv[1]}/Liberation{face}.ttf")
    add(font, 0x207B, "−", 0.62, 560)
    add(font, 0x2070, "0", 0.6, 560)
    options = Options(hinting=False, layout_features=[], notdef_outline=True, name_IDs=[0, 13, 14], legacy_kern=False)
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "kern", "FFTM", "DSIG"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=CODES)
    subsetter.subset(font)
    for record in font["name"].names:
        record.string = record.toUnicode().replace("Liberation", "")
    font["name"].setName(f"sbl {name}", 1, 3, 1, 0x409)
    font["name"].setName(f"sbl {name}", 4, 3, 1, 0x409)
    font["head"].created = font["head"].modified = 0
    font.recalcTimestamp = False
    font.save(f"{name}.ttf")
