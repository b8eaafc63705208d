"""All applications, by name."""

from importlib import import_module

from tests.apps.app import App

NAMES = (
    *("django_admin", "tiddlywiki", "jupyterlab", "node_red", "esphome", "wagtail", "prefect"),
    *("syncthing", "dash_orders", "nicegui_berths"),
)


def app_of(name: str) -> App:
    app: App = import_module(f"tests.apps.{name}").APP
    return app
