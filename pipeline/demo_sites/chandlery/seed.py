"""The seed gives every fresh site the same start: customers, products and six orders."""

from rutter.pipeline.demo_sites.chandlery.store import Customer, Order, Product, Store

CUSTOMERS = (
    Customer(201, "Aurora Shipping", "MV Northern Dawn", "Rotterdam", "30 days"),
    Customer(202, "Baltic Tern Lines", "MV Sterna", "Gdansk", "30 days"),
    Customer(203, "Cape Verity Bulk", "MV Plain Truth", "Cape Town", "Prepaid"),
    Customer(204, "Dunmore Ferries", "MF Lady Dunmore", "Cork", "14 days"),
    Customer(205, "Estuary Towage", "Tug Mudlark", "Hull", "14 days"),
    Customer(206, "Fairlead Offshore", "PSV Bollard Pull", "Aberdeen", "45 days"),
    Customer(207, "Gannet Fisheries", "FV Silver Shoal", "Peterhead", "Prepaid"),
    Customer(208, "Harbour Pilots Guild", "PV Foreland", "Antwerp", "30 days"),
    Customer(209, "Isbjorn Reefer", "MV Cold Comfort", "Bergen", "30 days"),
    Customer(210, "Juniper Tankers", "MT Juniper Spirit", "Trieste", "45 days"),
    Customer(211, "Kestrel Dredging", "TSHD Hover", "Zeebrugge", "30 days"),
    Customer(212, "Lodestar Cruises", "MS Polestar", "Valletta", "14 days"),
)

PRODUCTS = (
    Product("mooring-rope", "Mooring rope 48 mm", "coil", 41_250),
    Product("heaving-line", "Heaving line with monkey's fist", "piece", 2_890),
    Product("shackle-bow", "Bow shackle 12 t", "piece", 6_475),
    Product("fender-cylinder", "Cylindrical fender 1 m", "piece", 38_900),
    Product("anti-fouling", "Anti-fouling paint, red", "20 l drum", 29_600),
    Product("deck-primer", "Deck primer, grey", "20 l drum", 14_350),
    Product("engine-oil", "Engine oil SAE 40", "208 l drum", 61_900),
    Product("hydraulic-oil", "Hydraulic oil 46", "208 l drum", 54_200),
    Product("oil-filter", "Lube oil filter cartridge", "piece", 3_720),
    Product("lifejacket", "Lifejacket 275 N", "piece", 11_480),
    Product("signal-rocket", "Parachute signal rocket", "box of 4", 13_925),
    Product("fire-hose", "Fire hose 52 mm, 20 m", "piece", 9_860),
    Product("work-gloves", "Work gloves, leather", "dozen", 4_380),
    Product("galley-coffee", "Galley coffee, ground", "5 kg bag", 5_940),
    Product("chart-pencils", "Chart pencils 2B", "box of 12", 890),
)

ORDERS = (
    Order(1001, "Gannet Fisheries", "work-gloves", 4, "2026-02-12", "Fish quay 2",
          "routine", "", True, "Delivered"),
    Order(1002, "Juniper Tankers", "engine-oil", 6, "2026-02-18", "Oil jetty 1",
          "routine", "Drums on pallets.", True, "Delivered"),
    Order(1003, "Baltic Tern Lines", "lifejacket", 24, "2026-03-03", "Berth 9",
          "urgent", "Inspection on the 4th.", True, "Packed"),
    Order(1004, "Lodestar Cruises", "galley-coffee", 40, "2026-03-05", "Pinto wharf 5",
          "routine", "", True, "Packed"),
    Order(1005, "Fairlead Offshore", "shackle-bow", 16, "2026-03-06", "Regent quay",
          "routine", "Certificates with the goods.", False),
    Order(1006, "Harbour Pilots Guild", "signal-rocket", 3, "2026-03-09", "Pilot station",
          "routine", "", True),
)  # fmt: skip


def open_store() -> Store:
    return Store(CUSTOMERS, PRODUCTS, list(ORDERS))
