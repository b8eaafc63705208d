"""Every way we know by which a page can make the browser speak to somebody: one row each.

`$URL` is the canary of the channel (`$WS`, `$TLS` with another scheme, `$AT` without one), `$HERE`
the channel's own place on the hostile site, `$SITE` the site itself, `$N` a number of its own, and
`$DONE` a script that says the channel has nothing more to try.
"""

import ipaddress
from typing import NamedTuple

JS = "text/javascript"


class Answer(NamedTuple):
    """What the hostile site answers."""

    body: str = ""
    kind: str = "text/html"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Channel(NamedTuple):
    """`page` stands in one page with all others; `own` is a page for itself, where `clicks` says
    that a person clicks `#go` there; `apart` is a script in a world that the browser's driver has
    not changed. `parts` are what it needs besides. `listen` is where the
    canary is when it must be at an address that is not the channel's own."""

    name: str
    page: str = ""
    own: Answer | None = None
    clicks: bool = False
    apart: str = ""
    parts: tuple[tuple[str, Answer], ...] = ()
    listen: str = ""
    spelling: str = "{host}:{port}"

    def spelled(self, host: str, number: int, port: int) -> str:
        """Its canary's host and port, as this channel writes them."""
        if ":" in host:
            return f"[{host}]:{port}"
        first, second, third, fourth = host.split(".")
        whole = int(ipaddress.IPv4Address(host))
        return self.spelling.format(
            host=host,
            port=port,
            decimal=whole,
            hex=f"0x{whole:x}",
            octal=".".join(f"0{int(part):o}" for part in (first, second, third, fourth)),
            short=f"{first}.{second}.{int(third) * 256 + int(fourth)}",
            mapped=f"[::ffff:{host}]",
            number=number,
            percent="".join(f"%{ord(letter):02x}" for letter in host),
            wide=host.translate({ord("0") + digit: 0xFF10 + digit for digit in range(10)}),
            ideographic=host.replace(".", "。"),
        )


def _js(script: str) -> str:
    return f"<script>(async () => {{ try {{ {script} }} catch (error) {{}} }})()</script>"


def _own(body: str, *headers: tuple[str, str], status: int = 200) -> Answer:
    return Answer("<!doctype html><body>" + body, status=status, headers=headers)


def _script(text: str) -> Answer:
    return Answer(text, kind=JS)


def _hop(status: int, to: str = "$URL") -> Answer:
    return Answer(status=status, headers=(("location", to), ("access-control-allow-origin", "*")))


GOING = (
    *(Channel(f"redirect-{code}", own=_hop(code)) for code in (301, 302, 303, 307, 308)),
    Channel(
        "redirect-in-two-hops",
        own=_hop(302, "$HERE/next"),
        parts=(("next", _hop(307)),),
    ),
    Channel("refresh-header", own=_own("x", ("refresh", "0; url=$URL"))),
    Channel("meta-refresh", own=_own("<meta http-equiv=refresh content='0; url=$URL'>")),
    Channel("location-assign", own=_own(_js("location.assign('$URL')"))),
    Channel("location-replace", own=_own(_js("location.replace('$URL')"))),
    Channel("location-href", own=_own(_js("location.href = '$URL'"))),
    Channel("navigation-api", own=_own(_js("navigation.navigate('$URL')"))),
    Channel("link-by-script", own=_own("<a id=a href='$URL'>a</a>" + _js("a.click()"))),
    Channel("link-clicked", own=_own("<a id=go href='$URL'>go</a>"), clicks=True),
    Channel(
        "link-javascript",
        own=_own("<a id=go href=\"javascript:location='$URL'\">go</a>"),
        clicks=True,
    ),
    Channel("link-download", own=_own("<a id=go download href='$URL'>go</a>"), clicks=True),
    Channel(
        "download-redirected",
        own=_own("<a id=go download href='$HERE/f'>go</a>"),
        clicks=True,
        parts=(("f", _hop(302)),),
    ),
    Channel("link-ping", own=_own("<a id=go ping='$URL' href='/away'>go</a>"), clicks=True),
    Channel(
        "link-in-svg",
        own=_own(
            "<svg width=90 height=90><a href='$URL'><rect id=go width=90 height=90 /></a></svg>"
        ),
        clicks=True,
    ),
    Channel("view-source", own=_own("<a id=go href='view-source:$URL'>go</a>"), clicks=True),
    Channel(
        "frame-leads-top",
        own=_own("<iframe srcdoc='<script>top.location=\"$URL\"</script>'></iframe>"),
    ),
    Channel(
        "form-get",
        own=_own("<form id=f action='$URL'><input name=q value=1></form>" + _js("f.submit()")),
    ),
    Channel(
        "form-post",
        own=_own("<form id=f method=post action='$URL'><input name=q></form>" + _js("f.submit()")),
    ),
    Channel(
        "form-multipart",
        own=_own(
            "<form id=f method=post enctype=multipart/form-data action='$URL'><input name=q></form>"
            + _js("f.requestSubmit()")
        ),
    ),
    Channel(
        "form-formaction",
        own=_own(
            "<form action=/away><button id=go formaction='$URL' formmethod=post>go</button></form>"
        ),
        clicks=True,
    ),
    Channel(
        "form-dialog",
        own=_own(
            "<dialog open><form method=dialog action='$URL'>"
            "<button id=go formmethod=post>go</button></form></dialog>"
        ),
        clicks=True,
    ),
    Channel(
        "form-post-redirected",
        own=_own(
            "<form id=f method=post action='$HERE/f'><input name=q></form>" + _js("f.submit()")
        ),
        parts=(("f", _hop(307)),),
    ),
    Channel(
        "form-target-blank",
        own=_own("<form action='$URL' target=_blank><button id=go>go</button></form>"),
        clicks=True,
    ),
    Channel(
        "popup", own=_own("<button id=go onclick=\"window.open('$URL')\">go</button>"), clicks=True
    ),
    Channel(
        "popup-noopener",
        own=_own("<button id=go onclick=\"window.open('$URL', '_blank', 'noopener')\">go</button>"),
        clicks=True,
    ),
    Channel(
        "popup-then-location",
        own=_own(
            "<button id=go onclick=\"window.open('about:blank').location = '$URL'\">go</button>"
        ),
        clicks=True,
    ),
    Channel(
        "popup-about-blank-fetch",
        own=_own(
            "<button id=go onclick=\"window.open('about:blank')"
            ".fetch('$URL', {mode: 'no-cors'})\">go</button>"
        ),
        clicks=True,
    ),
    Channel(
        "link-target-blank", own=_own("<a id=go target=_blank href='$URL'>go</a>"), clicks=True
    ),
    Channel(
        "link-noreferrer",
        own=_own("<a id=go target=_blank rel='noopener noreferrer' href='$URL'>go</a>"),
        clicks=True,
    ),
)

LEAVING = (
    Channel(
        "beacon-on-leaving",
        own=_own(
            _js(
                "addEventListener('pagehide', () => navigator.sendBeacon('$URL', 'x'));"
                "location = '/away'"
            )
        ),
    ),
    Channel(
        "fetch-on-leaving",
        own=_own(
            _js(
                "addEventListener('pagehide', () => "
                "fetch('$URL', {keepalive: true, mode: 'no-cors'}));"
                "location = '/away'"
            )
        ),
    ),
    Channel(
        "fetch-later", own=_own(_js("fetchLater('$URL', {activateAfter: 0}); location = '/away'"))
    ),
    Channel(
        "fetch-later-tls",
        own=_own(_js("fetchLater('$TLS', {activateAfter: 0}); location = '/away'")),
    ),
)

REPORTS = (
    Channel(
        "csp-report-uri",
        own=_own("<img src=/x>", ("content-security-policy", "img-src 'none'; report-uri $URL")),
    ),
    Channel(
        "csp-report-only",
        own=_own(
            "<img src=/x>",
            ("content-security-policy-report-only", "img-src 'none'; report-uri $URL"),
        ),
    ),
    Channel(
        "csp-report-to",
        own=_own(
            "<img src=/x>",
            ("reporting-endpoints", 'main="$URL"'),
            ("content-security-policy", "img-src 'none'; report-to main"),
        ),
    ),
    Channel(
        "csp-report-to-tls",
        own=_own(
            "<img src=/x>",
            ("reporting-endpoints", 'main="$TLS"'),
            ("content-security-policy", "img-src 'none'; report-to main"),
        ),
    ),
    Channel(
        "report-to-header",
        own=_own(
            "<img src=/x>",
            ("report-to", '{"group":"g","max_age":99,"endpoints":[{"url":"$URL"}]}'),
            ("content-security-policy", "img-src 'none'; report-to g"),
        ),
    ),
    Channel(
        "network-error-logging",
        own=_own(
            "<img src=/x>",
            ("report-to", '{"group":"g","max_age":99,"endpoints":[{"url":"$TLS"}]}'),
            ("nel", '{"report_to":"g","max_age":99,"success_fraction":1}'),
        ),
    ),
    Channel("link-header-preload", own=_own("x", ("link", "<$URL>; rel=preload; as=image"))),
    Channel("link-header-preconnect", own=_own("x", ("link", "<$URL>; rel=preconnect"))),
    Channel("link-header-stylesheet", own=_own("x", ("link", "<$URL>; rel=prefetch"))),
    Channel("base-address", own=_own("<base href='$URL/'><img src=x>")),
    Channel(
        "import-map",
        own=_own(
            '<script type=importmap>{"imports": {"x": "$URL"}}</script>'
            "<script type=module>import 'x'</script>"
        ),
    ),
    Channel(
        "early-redirect-of-icon",
        own=_own("<link rel=icon href='$HERE/i'>"),
        parts=(("i", _hop(302)),),
    ),
)

LOADING = (
    Channel("image", "<img src='$URL'>"),
    Channel("image-srcset", "<img srcset='$URL 1x'>"),
    Channel("image-picture", "<picture><source srcset='$URL'><img></picture>"),
    Channel("image-redirected", "<img src='$HERE/i'>", parts=(("i", _hop(302)),)),
    Channel("image-by-script", _js("new Image().src = '$URL'")),
    Channel("input-image", "<input type=image src='$URL'>"),
    Channel("body-background", "<table background='$URL'><tr><td>x</table>"),
    Channel("attribution-source", "<img attributionsrc='$URL' src=/x>"),
    Channel("css-background", "<div style=\"background: url('$URL')\">x</div>"),
    Channel("css-image-set", "<div style=\"background: image-set('$URL' 1x)\">x</div>"),
    Channel("css-mask", "<div style=\"mask-image: url('$URL')\">x</div>"),
    Channel("css-list", "<ul><li style=\"list-style-image: url('$URL')\">x</ul>"),
    Channel("css-content", "<style>#c$N::before { content: url('$URL') }</style><i id=c$N></i>"),
    Channel("css-import", "<style>@import '$URL';</style>"),
    Channel(
        "css-font",
        "<style>@font-face { font-family: f$N; src: url('$URL') }</style>"
        "<p style='font-family: f$N'>x",
    ),
    Channel("css-link", "<link rel=stylesheet href='$URL'>"),
    Channel("css-shape", "<div style=\"float: left; shape-outside: url('$URL')\">x</div>"),
    Channel("svg-use", "<svg><use href='$URL#a'/></svg>"),
    Channel("svg-image", "<svg><image href='$URL' width=9 height=9 /></svg>"),
    Channel(
        "svg-fe-image",
        "<svg><filter id=f$N><feImage href='$URL'/></filter>"
        "<rect width=9 height=9 filter='url(#f$N)'/></svg>",
    ),
    Channel("video", "<video src='$URL'></video>"),
    Channel("video-poster", "<video poster='$URL'></video>"),
    Channel("video-source", "<video><source src='$URL'></video>"),
    Channel("video-track", "<video crossorigin><track default src='$URL'></video>"),
    Channel("audio", "<audio preload=auto src='$URL'></audio>"),
    Channel("object", "<object data='$URL'></object>"),
    Channel("embed", "<embed src='$URL'>"),
    Channel("script", "<script async src='$URL'></script>"),
    Channel("script-module", "<script type=module src='$URL'></script>"),
    Channel("import-by-script", _js("await import('$URL')")),
    Channel("manifest", "<link rel=manifest href='$URL'>"),
    Channel("icon", "<link rel=icon href='$URL'>"),
    Channel("prefetch", "<link rel=prefetch href='$URL'>"),
    Channel("preload", "<link rel=preload as=image href='$URL'>"),
    Channel("preload-fetch", "<link rel=preload as=fetch crossorigin href='$URL'>"),
    Channel("module-preload", "<link rel=modulepreload href='$URL'>"),
    Channel("preconnect", "<link rel=preconnect href='$URL'>"),
    Channel("prerender-link", "<link rel=prerender href='$URL'>"),
    Channel("dictionary", "<link rel=compression-dictionary href='$URL'>"),
    Channel(
        "speculation-prefetch",
        "<script type=speculationrules>"
        '{"prefetch": [{"urls": ["$URL"], "eagerness": "immediate"}]}</script>',
    ),
    Channel(
        "speculation-prefetch-redirected",
        "<script type=speculationrules>"
        '{"prefetch": [{"urls": ["$HERE/p"], "eagerness": "immediate"}]}</script>',
        parts=(("p", _hop(302)),),
    ),
    Channel(
        "speculation-prerender-elsewhere",
        "<script type=speculationrules>"
        '{"prerender": [{"urls": ["$URL"], "eagerness": "immediate"}]}</script>',
    ),
    Channel(
        "speculation-prerender",
        own=_own(
            "<script type=speculationrules>"
            '{"prerender": [{"urls": ["$HERE/p"], "eagerness": "immediate"}]}</script>'
        ),
        parts=(("p", _own("<img src='$URL'>")),),
    ),
)

FRAMES = (
    Channel("iframe", "<iframe src='$URL'></iframe>"),
    Channel("iframe-redirected", "<iframe src='$HERE/f'></iframe>", parts=(("f", _hop(302)),)),
    Channel("iframe-srcdoc", "<iframe srcdoc=\"<img src='$URL'>\"></iframe>"),
    Channel(
        "iframe-sandboxed",
        "<iframe sandbox=allow-scripts srcdoc=\"<script>fetch('$URL', {mode: 'no-cors'})"
        '</script>"></iframe>',
    ),
    Channel("iframe-data", "<iframe src=\"data:text/html,<img src='$URL'>\"></iframe>"),
    Channel(
        "iframe-data-script",
        "<iframe src=\"data:text/html,<script>new WebSocket('$WS')</script>\"></iframe>",
    ),
    Channel("iframe-javascript", "<iframe src=\"javascript:'<img src=$URL>'\"></iframe>"),
    Channel(
        "iframe-blob",
        _js(
            "const f = document.createElement('iframe');"
            "f.src = URL.createObjectURL(new Blob(['<img src=$URL>'], {type: 'text/html'}));"
            "document.body.append(f)"
        ),
    ),
    Channel(
        "iframe-about-blank",
        _js(
            "const f = document.createElement('iframe'); document.body.append(f);"
            "f.contentWindow.fetch('$URL', {mode: 'no-cors'})"
        ),
    ),
    Channel(
        "iframe-meta-refresh",
        "<iframe srcdoc=\"<meta http-equiv=refresh content='0; url=$URL'>\"></iframe>",
    ),
    Channel(
        "form-in-frame",
        "<iframe name=t$N></iframe>"
        "<form id=f$N target=t$N method=post action='$URL'><input name=q></form>"
        + _js("f$N.submit()"),
    ),
    Channel(
        "link-in-frame",
        "<iframe name=t$N></iframe><a id=a$N target=t$N href='$URL'>a</a>" + _js("a$N.click()"),
    ),
)

ASKING = (
    Channel("fetch-cors", _js("await fetch('$URL')")),
    Channel("fetch-no-cors", _js("await fetch('$URL', {mode: 'no-cors'})")),
    Channel("fetch-preflight", _js("await fetch('$URL', {method: 'PUT', headers: {a: 'b'}})")),
    Channel("fetch-keepalive", _js("await fetch('$URL', {keepalive: true, mode: 'no-cors'})")),
    Channel("fetch-redirected", _js("await fetch('$HERE/f')"), parts=(("f", _hop(307)),)),
    Channel("fetch-tls", _js("await fetch('$TLS', {mode: 'no-cors'})")),
    Channel("xhr", _js("const x = new XMLHttpRequest(); x.open('GET', '$URL'); x.send()")),
    Channel(
        "xhr-waiting",
        _js("const x = new XMLHttpRequest(); x.open('POST', '$URL', false); x.send('x')"),
    ),
    Channel("websocket", _js("new WebSocket('$WS')")),
    Channel("websocket-tls", _js("new WebSocket('$WS'.replace('ws:', 'wss:'))")),
    Channel("websocket-stream", _js("await new WebSocketStream('$WS').opened")),
    Channel("event-source", _js("new EventSource('$URL')")),
    Channel("beacon", _js("navigator.sendBeacon('$URL', 'x')")),
    Channel(
        "fedcm",
        _js(
            "await navigator.credentials.get({identity: {providers: "
            "[{configURL: '$URL', clientId: 'x'}]}})"
        ),
    ),
    Channel(
        "payment",
        _js(
            "await new PaymentRequest([{supportedMethods: '$URL'}], "
            "{total: {label: 'x', amount: {currency: 'EUR', value: '1'}}})"
            ".canMakePayment()"
        ),
    ),
    Channel(
        "web-transport",
        _js(
            "const t = new WebTransport('$TLS');"
            "t.ready.catch(() => {}); await t.closed"
            ".catch(() => {}); $DONE"
        ),
    ),
)

# Playwright puts a function of its own in the place of this one, in the world of the page alone.
_REGISTER = "navigator.serviceWorker.register('$HERE/w')"

WORKERS = (
    Channel("worker-script", _js("new Worker('$HERE/w')"), parts=(("w", _hop(302)),)),
    Channel(
        "worker-fetch",
        _js("new Worker('$HERE/w')"),
        parts=(("w", _script("fetch('$URL', {mode: 'no-cors'})")),),
    ),
    Channel(
        "worker-websocket",
        _js("new Worker('$HERE/w')"),
        parts=(("w", _script("new WebSocket('$WS')")),),
    ),
    Channel(
        "worker-event-source",
        _js("new Worker('$HERE/w')"),
        parts=(("w", _script("new EventSource('$URL')")),),
    ),
    Channel(
        "worker-import-scripts",
        _js("new Worker('$HERE/w')"),
        parts=(("w", _script("importScripts('$URL')")),),
    ),
    Channel(
        "worker-module",
        _js("new Worker('$HERE/w', {type: 'module'})"),
        parts=(("w", _script("import '$URL'")),),
    ),
    Channel(
        "worker-nested",
        _js("new Worker('$HERE/w')"),
        parts=(
            ("w", _script("new Worker('$HERE/v')")),
            ("v", _script("fetch('$URL', {mode: 'no-cors'})")),
        ),
    ),
    Channel(
        "worker-blob",
        _js("new Worker(URL.createObjectURL(new Blob([\"fetch('$URL', {mode: 'no-cors'})\"])))"),
    ),
    Channel(
        "worker-data", _js("new Worker(\"data:text/javascript,fetch('$URL', {mode: 'no-cors'})\")")
    ),
    Channel(
        "shared-worker-fetch",
        _js("new SharedWorker('$HERE/w')"),
        parts=(("w", _script("fetch('$URL', {mode: 'no-cors'})")),),
    ),
    Channel(
        "shared-worker-import-scripts",
        _js("new SharedWorker('$HERE/w')"),
        parts=(("w", _script("importScripts('$URL')")),),
    ),
    Channel(
        "shared-worker-module",
        _js("new SharedWorker('$HERE/w', {type: 'module'})"),
        parts=(("w", _script("import '$URL'")),),
    ),
    Channel(
        "shared-worker-websocket",
        _js("new SharedWorker('$HERE/w')"),
        parts=(("w", _script("new WebSocket('$WS')")),),
    ),
    Channel(
        "service-worker-fetch",
        apart=_REGISTER,
        parts=(("w", _script("fetch('$URL', {mode: 'no-cors'})")),),
    ),
    Channel(
        "service-worker-import-scripts",
        apart=_REGISTER,
        parts=(("w", _script("importScripts('$URL')")),),
    ),
    Channel(
        "service-worker-websocket", apart=_REGISTER, parts=(("w", _script("new WebSocket('$WS')")),)
    ),
    Channel(
        "service-worker-answers",
        apart=_REGISTER + ".then(async r => {"
        "const f = document.createElement('iframe');"
        "const w = r.installing || r.waiting || r.active;"
        "const go = () => { f.src = '$HERE/in'; document.body.append(f) };"
        "if (w.state == 'activated') go(); else w.onstatechange = () => "
        "{ if (w.state == 'activated') go() } })",
        parts=(
            ("w", _script("onfetch = e => e.respondWith(fetch('$URL', {mode: 'no-cors'}))")),
            ("in", _own("in")),
        ),
    ),
    Channel(
        "worklet-audio",
        _js("await new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule('$URL')"),
    ),
    Channel(
        "worklet-audio-import",
        _js("await new OfflineAudioContext(1, 1, 44100).audioWorklet.addModule('$HERE/w')"),
        parts=(("w", _script("import '$URL'")),),
    ),
    Channel("worklet-paint", _js("await CSS.paintWorklet.addModule('$URL')")),
)

_ICE = (
    "const p = new RTCPeerConnection({iceServers: [%s]}); p.createDataChannel('x');"
    "p.onicegatheringstatechange = () => { if (p.iceGatheringState == 'complete') $DONE };"
    "await p.setLocalDescription(await p.createOffer())"
)
_TURN = "{urls: 'turn:$AT?transport=%s', username: 'u', credential: 'c'}"

PEERS = (
    Channel("webrtc-stun", _js(_ICE % "{urls: 'stun:$AT'}")),
    Channel("webrtc-turn-udp", _js(_ICE % (_TURN % "udp"))),
    Channel("webrtc-turn-tcp", _js(_ICE % (_TURN % "tcp"))),
    Channel("webrtc-turns", _js(_ICE % (_TURN % "tcp").replace("turn:", "turns:"))),
    Channel(
        "webrtc-relay-only",
        _js(
            (_ICE % (_TURN % "udp")).replace(
                "{iceServers", "{iceTransportPolicy: 'relay', iceServers"
            )
        ),
    ),
    # The other side's candidate is whatever the page says it is.
    Channel(
        "webrtc-candidate",
        _js(
            "const a = new RTCPeerConnection(), b = new RTCPeerConnection();"
            "a.createDataChannel('x');"
            "await a.setLocalDescription(await a.createOffer());"
            "await b.setRemoteDescription(a.localDescription);"
            "await b.setLocalDescription(await b.createAnswer());"
            "await a.setRemoteDescription(b.localDescription);"
            "const [h, p] = '$AT'.split(':');"
            "await a.addIceCandidate({candidate: `candidate:1 1 udp 2122260223 ${h} ${p} typ host`,"
            "sdpMid: '0', sdpMLineIndex: 0});"
            "await a.addIceCandidate({candidate: `candidate:2 1 tcp 1518280447 ${h} ${p} typ host "
            "tcptype passive`, sdpMid: '0', sdpMLineIndex: 0})"
        ),
    ),
)

_ONE = "127.0.0.1"
SPELLINGS = (
    Channel("spelled-decimal", "<img src='$URL'>", spelling="{decimal}:{port}"),
    Channel("spelled-hex", "<img src='$URL'>", spelling="{hex}:{port}"),
    Channel("spelled-octal", "<img src='$URL'>", spelling="{octal}:{port}"),
    Channel("spelled-short", "<img src='$URL'>", spelling="{short}:{port}"),
    Channel("spelled-mapped", "<img src='$URL'>", spelling="{mapped}:{port}"),
    Channel("spelled-trailing-dot", "<img src='$URL'>", spelling="{host}.:{port}"),
    Channel("spelled-percent", "<img src='$URL'>", spelling="{percent}:{port}"),
    Channel("spelled-wide", "<img src='$URL'>", spelling="{wide}:{port}"),
    Channel("spelled-ideographic", "<img src='$URL'>", spelling="{ideographic}:{port}"),
    Channel("spelled-userinfo", "<img src='$URL'>", spelling="127.0.0.1@{host}:{port}"),
    Channel("spelled-userinfo-top", own=_hop(302), spelling="user:pass@{host}:{port}"),
    Channel("localhost", "<img src='$URL'>", listen=_ONE, spelling="localhost:{port}"),
    Channel("localhost-dot", "<img src='$URL'>", listen=_ONE, spelling="localhost.:{port}"),
    Channel("below-localhost", "<img src='$URL'>", listen=_ONE, spelling="x.localhost:{port}"),
    Channel("another-port", "<img src='$URL'>", listen=_ONE),
    Channel("another-port-websocket", _js("new WebSocket('$WS')"), listen=_ONE),
    Channel("no-address", "<img src='$URL'>", listen=_ONE, spelling="0.0.0.0:{port}"),
    Channel("ipv6-one", "<img src='$URL'>", listen="::1"),
    Channel("named", "<img src='$URL'>", spelling="h{number}.canary.test:{port}"),
    Channel("named-frame", "<iframe src='$URL'></iframe>", spelling="h{number}.canary.test:{port}"),
    Channel(
        "rebinding",
        "<iframe src='$URL'></iframe>",
        spelling="r{number}.canary.test:{port}",
        parts=(
            (
                "",
                Answer(
                    "<script>fetch('/rebinding?again')</script>", headers=(("connection", "close"),)
                ),
            ),
        ),
    ),
)

# What only makes the browser look a name up, or does so first: seen in its own log of the network.
_NAMED = "d{number}.canary.test:{port}"
LOOKUPS = (
    Channel("lookup-prefetch", "<link rel=dns-prefetch href='$URL'>", spelling=_NAMED),
    Channel("lookup-image", "<img src='$URL'>", spelling=_NAMED),
    Channel("lookup-preconnect", "<link rel=preconnect href='$URL'>", spelling=_NAMED),
    Channel("lookup-websocket", _js("new WebSocket('$WS')"), spelling=_NAMED),
    Channel("lookup-stun", _js(_ICE % "{urls: 'stun:$AT'}"), spelling=_NAMED),
    Channel("lookup-web-transport", _js("await new WebTransport('$TLS').ready"), spelling=_NAMED),
)

CHANNELS: tuple[Channel, ...] = (
    *GOING,
    *LEAVING,
    *REPORTS,
    *LOADING,
    *FRAMES,
    *ASKING,
    *WORKERS,
    *PEERS,
    *SPELLINGS,
    *LOOKUPS,
)
