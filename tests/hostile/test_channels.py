"""Every channel by which a page can reach a host that is denied: none does, and without the proxy
each one would."""

from pathlib import Path

import pytest

from rutter.pipeline.config.chromium_install import find_chromium
from tests.hostile.channels import CHANNELS, LOOKUPS
from tests.hostile.crossing import cross
from tests.support.tls_authority import Authority, authority

pytestmark = [pytest.mark.browser, pytest.mark.anyio, pytest.mark.timeout(300)]

# Channels by which nothing is reached even without a proxy, and why. A new browser may open one:
# then it belongs to those that are shown.
NOT_EXERCISED = {
    "view-source": "a page may not lead there",
    "csp-report-to": "only pages whose certificate no switch makes good have such reports",
    "csp-report-to-tls": "only pages whose certificate no switch makes good have such reports",
    "report-to-header": "only pages whose certificate no switch makes good have such reports",
    "network-error-logging": "only pages whose certificate no switch makes good have such reports",
    "link-header-preconnect": "switched off with the browser's networking in the background",
    "preconnect": "switched off with the browser's networking in the background",
    "lookup-preconnect": "switched off with the browser's networking in the background",
    "lookup-prefetch": "switched off with the browser's networking in the background",
    "lookup-stun": "for this no name is looked up where the browser has no network of its own",
    "early-redirect-of-icon": "without a window there is no icon",
    "icon": "without a window there is no icon",
    "manifest": "without a window nothing is installed",
    "attribution-source": "only pages whose certificate no switch makes good have it",
    "svg-use": "only from the page's own origin",
    "worker-script": "only from the page's own origin",
    "prerender-link": "no longer in the browser",
    "speculation-prerender": "switched off by the driver of the browser",
    "spelled-userinfo": "not in what a page loads; where a page leads it is shown",
}
# Those that the browser itself keeps back behind a proxy: there is nothing to refuse.
KEPT_BACK = {
    "web-transport": "datagrams know no proxy",
    "webrtc-stun": "no datagrams beside the proxy",
    "webrtc-turn-udp": "no datagrams beside the proxy",
    "webrtc-relay-only": "no datagrams beside the proxy",
    "speculation-prefetch": "nothing is fetched in advance from others",
    "speculation-prefetch-redirected": "nothing is fetched in advance from others",
    "speculation-prerender-elsewhere": "nothing is fetched in advance from others",
    "lookup-web-transport": "no name is looked up",
}
SAYS_DONE = {"web-transport", "webrtc-stun", "webrtc-turn-udp", "webrtc-relay-only"}
ALL = {channel.name for channel in CHANNELS}
EXERCISED = ALL - set(NOT_EXERCISED)
both = pytest.mark.parametrize(
    "trusted",
    [
        pytest.param(None, id="http"),
        pytest.param(authority(), id="https", marks=pytest.mark.extended),  # and HTTP/2
    ],
)


@pytest.fixture(scope="module")
def executable() -> Path:
    found = find_chromium()
    if found is None:
        pytest.fail("no Chromium: run `make setup`, or set RUTTER_CHROMIUM")
    return found


@both
async def test_without_the_proxy_every_channel_reaches_its_canary(
    executable: Path, tmp_path: Path, trusted: Authority | None
) -> None:
    awaited = EXERCISED
    outcome = await cross(executable, tmp_path, guarded=False, awaited=awaited, trusted=trusted)
    assert ALL - outcome.hits == set(NOT_EXERCISED)


@both
async def test_behind_the_proxy_none_does_and_each_is_refused_by_name(
    executable: Path, tmp_path: Path, trusted: Authority | None
) -> None:
    awaited = (EXERCISED - set(KEPT_BACK)) | SAYS_DONE
    outcome = await cross(executable, tmp_path, guarded=True, awaited=awaited, trusted=trusted)
    assert not outcome.said
    assert not outcome.lookups & {channel.name for channel in LOOKUPS}
    assert not outcome.jobs
    assert (EXERCISED - set(KEPT_BACK)) - outcome.blocked == set()
    assert outcome.done >= SAYS_DONE
