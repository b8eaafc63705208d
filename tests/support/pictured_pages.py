"""Ten small pages in different fonts and themes, with the words and cells that a reader must find.

Five were looked at while the reading of pictures was made, five were not. Tables are drawn on a
canvas, so that no markup says what stands in them.
"""

from html import escape
from typing import NamedTuple

import msgspec

Rows = tuple[tuple[str, ...], ...]


class Heading(NamedTuple):
    text: str


class Text(NamedTuple):
    text: str


class Columns(NamedTuple):
    """Columns stand side by side and are read one after the other."""

    columns: tuple[tuple[Heading | Text, ...], ...]
    wide: tuple[int, ...] = ()


class Drawn(NamedTuple):
    """A table is drawn on a canvas."""

    rows: Rows
    ruled: bool = True
    head: tuple[str, str] | None = None  # background and colour of its first row
    size: int = 15
    widths: tuple[int, ...] = ()


Block = Heading | Text | Columns | Drawn


class PicturedPage(NamedTuple):
    name: str
    css: str
    blocks: tuple[Block, ...]
    tuned: bool

    @property
    def words(self) -> list[str]:
        """All of its words in reading order."""
        return [word for block in self.blocks for word in _words(block)]

    @property
    def cells(self) -> list[str]:
        tables = [block.rows for block in self.blocks if isinstance(block, Drawn)]
        return [cell for rows in tables for row in rows for cell in row]

    @property
    def html(self) -> str:
        ink, ground = _colours(self.css)
        drawn = "".join(_html(block, ink, ground) for block in self.blocks)
        return f"<!doctype html><meta charset=utf-8><style>body{{{self.css}}}{STYLE}</style>{drawn}"


STYLE = """
body{margin:24px 40px;line-height:1.45} canvas{display:block;margin:14px 0}
.columns{display:flex;gap:44px;align-items:flex-start} .columns>div{flex:1}
"""


def _words(block: Block) -> list[str]:
    match block:
        case Heading(text) | Text(text):
            return text.split()
        case Columns(columns):
            return [word for column in columns for each in column for word in _words(each)]
        case Drawn(rows):
            return [word for row in rows for cell in row for word in cell.split()]


def _html(block: Block, ink: str, ground: str) -> str:
    match block:
        case Heading(text):
            return f"<h2>{escape(text)}</h2>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Columns(columns, wide):
            shares = wide or (1,) * len(columns)
            inner = ""
            for share, column in zip(shares, columns, strict=True):
                parts = "".join(_html(each, ink, ground) for each in column)
                inner += f"<div style='flex:{share}'>{parts}</div>"
            return f"<div class=columns>{inner}</div>"
        case Drawn() as drawn:
            return _canvas(drawn, ink, ground)


def _canvas(drawn: Drawn, ink: str, ground: str) -> str:
    widths = drawn.widths or (190,) * len(drawn.rows[0])
    high = drawn.size * 2 + 4
    given = msgspec.json.encode(
        {
            "rows": drawn.rows,
            "widths": widths,
            "high": high,
            "size": drawn.size,
            "ruled": drawn.ruled,
            "head": drawn.head,
            "ink": ink,
            "ground": ground,
        }
    ).decode()
    size = f"width={sum(widths) + 2} height={high * len(drawn.rows) + 2}"
    return f"<canvas {size}></canvas><script>({DRAW})({given})</script>"


DRAW = """(t) => {
  const canvas = document.currentScript.previousElementSibling;
  const pen = canvas.getContext('2d');
  const family = getComputedStyle(document.body).fontFamily;
  pen.fillStyle = t.ground; pen.fillRect(0, 0, canvas.width, canvas.height);
  t.rows.forEach((row, r) => {
    const top = 1 + r * t.high;
    const across = t.widths.reduce((sum, each) => sum + each, 0);
    if (t.head && !r) { pen.fillStyle = t.head[0]; pen.fillRect(1, top, across, t.high); }
    let left = 1;
    row.forEach((cell, c) => {
      if (t.ruled) { pen.strokeStyle = '#888'; pen.strokeRect(left, top, t.widths[c], t.high); }
      pen.fillStyle = t.head && !r ? t.head[1] : t.ink;
      pen.font = `${r ? '' : 'bold '}${t.size}px ${family}`;
      pen.textBaseline = 'middle';
      const number = c && /^[\\d$\\u20ac-]/.test(cell);
      pen.textAlign = number ? 'right' : 'left';
      pen.fillText(cell, number ? left + t.widths[c] - 12 : left + 10, top + t.high / 2);
      left += t.widths[c];
    });
  });
}"""


def _colours(css: str) -> tuple[str, str]:
    said = dict(part.split(":", 1) for part in css.split(";") if ":" in part)
    return said.get("color", "#111"), said.get("background", "#fff")


HARBOUR = (
    "The harbour office opens at seven in the morning. Whoever comes later finds the pilots at "
    "sea and the counter closed until noon, because nobody stays ashore when the tide is right."
)
BERTHS = (
    "A berth is booked for one night at a time. Boats longer than twelve metres lie at the outer "
    "wall, where the water is deep enough at any hour and the swell is felt in winter."
)
WATER = (
    "Fresh water and power are on the quay. Each post has two outlets; the meter is read when you "
    "leave, and what was used is paid together with the fee for the night."
)
CHARTS = (
    "New charts arrive in March and September. Corrections are printed weekly and pinned to the "
    "board beside the door, so that a skipper can copy them before casting off."
)
WEATHER = (
    "The forecast is renewed every six hours. Gale warnings are shown by a cone at the signal mast "
    "and repeated on channel sixteen in both languages."
)
MARKET = (
    "The fish market begins when the first boat is in. Buyers stand along the rail, prices are "
    "called aloud, and within an hour the hall is washed and empty again."
)
REPAIR = (
    "Small repairs are done by the yard while you wait. For a new mast or a keel the crane must be "
    "ordered two days ahead, and the owner should be present when it lifts."
)
FERRY = (
    "The ferry leaves the northern pier on the hour. Bicycles travel free of charge, cars need a "
    "ticket from the machine, and dogs stay on the open deck."
)
LIGHTS = (
    "Three lights lead through the channel at night. Keep the red one to port until the white pair "
    "stands in line, then steer for the church tower on the hill."
)
RULES = (
    "Engines run at slow speed inside the walls. Rubbish goes into the green bins, oil into the "
    "tank behind the shed, and nothing at all goes into the basin."
)

FEES: Rows = (
    ("Length", "Summer", "Winter", "Power"),
    ("up to 6 m", "$14.50", "$9.00", "$2.10"),
    ("up to 8 m", "$18.00", "$11.50", "$2.10"),
    ("up to 10 m", "$23.75", "$15.00", "$3.40"),
    ("up to 12 m", "$31.20", "$19.90", "$3.40"),
    ("over 12 m", "$44.00", "$28.60", "$5.25"),
)
PLANS: Rows = (
    ("Plan", "Boats", "Monthly", "Yearly"),
    ("Dinghy", "1", "$12", "$120"),
    ("Sloop", "3", "$29", "$290"),
    ("Ketch", "8", "$55", "$550"),
    ("Fleet", "40", "$199", "$1,990"),
)
STOCK: Rows = (
    ("Article", "Code", "In stock", "Price"),
    ("Anchor, 12 kg", "AN-1204", "17", "89.00"),
    ("Rope, 10 mm", "RO-0310", "240", "1.85"),
    ("Shackle, steel", "SH-7781", "66", "4.20"),
    ("Lantern, brass", "LA-5520", "8", "132.50"),
    ("Fender, white", "FE-0094", "31", "24.95"),
)
FARES: Rows = (
    ("From", "To", "Single", "Return", "Child"),
    ("North Pier", "Island", "7.80", "13.50", "3.90"),
    ("North Pier", "Lighthouse", "9.40", "16.20", "4.70"),
    ("Old Town", "Island", "6.10", "10.80", "3.05"),
    ("Old Town", "Lighthouse", "8.25", "14.90", "4.10"),
)
TIDES: Rows = (
    ("Day", "High water", "Height", "Low water", "Height"),
    ("Monday", "04:12", "5.8 m", "10:31", "1.2 m"),
    ("Tuesday", "04:58", "6.1 m", "11:17", "0.9 m"),
    ("Wednesday", "05:44", "6.3 m", "12:02", "0.8 m"),
    ("Thursday", "06:31", "6.2 m", "12:49", "0.9 m"),
)


def card(name: str, price: str, *lines: str) -> tuple[Heading | Text, ...]:
    return (Heading(name), Text(price), *(Text(line) for line in lines))


PAGES = (
    PicturedPage(
        "article",
        "font-family:'Liberation Serif';font-size:17px;color:#222;background:#fff",
        (
            Heading("Notes for visiting boats"),
            *map(Text, (HARBOUR, BERTHS, WATER, WEATHER)),
            Heading("Before you leave"),
            *map(Text, (CHARTS, LIGHTS)),
        ),
        tuned=False,
    ),
    PicturedPage(
        "dark",
        "font-family:'DejaVu Sans';font-size:15px;color:#dde;background:#15181e",
        (
            Heading("Signals and lights"),
            *map(Text, (LIGHTS, WEATHER)),
            Drawn(TIDES, ruled=False, size=15, widths=(150, 150, 120, 150, 120)),
            Text(RULES),
        ),
        tuned=True,
    ),
    PicturedPage(
        "two columns",
        "font-family:'Liberation Sans';font-size:14px;color:#111;background:#fff",
        (
            Heading("Harbour gazette"),
            Columns(
                (
                    (Text(HARBOUR), Text(MARKET), Text(FERRY)),
                    (Text(BERTHS), Text(REPAIR), Text(RULES)),
                )
            ),
        ),
        tuned=False,
    ),
    PicturedPage(
        "fees",
        "font-family:'Liberation Sans';font-size:16px;color:#111;background:#fff",
        (Heading("Fees for one night"), Drawn(FEES, ruled=True, size=16), Text(WATER)),
        tuned=True,
    ),
    PicturedPage(
        "mixed",
        "font-family:'DejaVu Sans';font-size:14px;color:#222;background:#fff",
        (
            Heading("The chandlery by the quay"),
            Text(MARKET),
            Columns(((Text(REPAIR), Text(CHARTS)), (Text(WATER), Text(FERRY)))),
            Heading("What is in stock"),
            Drawn(
                STOCK, ruled=True, head=("#1d4f91", "#fff"), size=14, widths=(220, 160, 140, 140)
            ),
            Text(HARBOUR),
        ),
        tuned=True,
    ),
    PicturedPage(
        "terminal",
        "font-family:'Liberation Mono';font-size:14px;color:#c8facc;background:#06120a",
        (
            Heading("Log of the pilot station"),
            *map(Text, (WEATHER, LIGHTS)),
            Drawn(STOCK, ruled=True, size=14, widths=(230, 150, 130, 130)),
        ),
        tuned=True,
    ),
    PicturedPage(
        "small grey",
        "font-family:'Liberation Sans';font-size:12px;color:#777;background:#fafafa",
        (
            Heading("Small print"),
            *map(Text, (RULES, FERRY, BERTHS)),
            Columns(((Text(WATER),), (Text(REPAIR),), (Text(CHARTS),))),
        ),
        tuned=False,
    ),
    PicturedPage(
        "fares",
        "font-family:'DejaVu Serif';font-size:15px;color:#2b2118;background:#f6efe2",
        (
            Heading("Fares of the ferry"),
            Text(FERRY),
            Drawn(FARES, ruled=False, head=("#7a1f1f", "#fff"), size=14, widths=(150,) * 5),
            Text(RULES),
        ),
        tuned=False,
    ),
    PicturedPage(
        "plans",
        "font-family:'DejaVu Sans';font-size:14px;color:#eee;background:#2a1540",
        (
            Heading("Choose your plan"),
            Columns(
                (
                    card("Dinghy", "$12 a month", "One boat at any pier", "Forecast twice a day"),
                    card("Sloop", "$29 a month", "Three boats at any pier", "Forecast every hour"),
                    card("Ketch", "$55 a month", "Eight boats and a locker", "Pilot on request"),
                )
            ),
            Drawn(PLANS, ruled=False, size=15, widths=(170,) * 4),
        ),
        tuned=True,
    ),
    PicturedPage(
        "mixed beside a menu",
        "font-family:'Liberation Serif';font-size:16px;color:#102030;background:#eef3f7",
        (
            Heading("Island and lighthouse"),
            Columns(
                (
                    tuple(map(Text, ("Timetable", "Tickets", "Weather", "Lost property"))),
                    (Heading("How to get there"), Text(FERRY), Text(LIGHTS), Text(MARKET)),
                ),
                wide=(1, 5),
            ),
            Drawn(FARES, ruled=True, size=15, widths=(160, 140, 110, 110, 110)),
            Columns(((Text(HARBOUR),), (Text(WEATHER),))),
        ),
        tuned=False,
    ),
)
