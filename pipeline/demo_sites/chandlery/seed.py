"""The seed gives every fresh site the same start: customers, products and six orders."""

from importlib.resources import files

import msgspec

from rutter.pipeline.demo_sites.chandlery.store import Customer, Order, Product


class Seed(msgspec.Struct, frozen=True):
    customers: tuple[Customer, ...]
    products: tuple[Product, ...]
    orders: tuple[Order, ...]


SEED = msgspec.toml.decode(files(__package__).joinpath("seed.toml").read_bytes(), type=Seed)
CUSTOMERS, PRODUCTS, ORDERS = SEED.customers, SEED.products, SEED.orders
