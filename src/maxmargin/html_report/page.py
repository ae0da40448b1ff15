"""The page: its style sheet, and the sections in their order."""

from maxmargin.html_report.html import Html, element, number
from maxmargin.html_report.more_sections import again, boundary, features, left_out, promises, support
from maxmargin.html_report.sections import asked, certificate, proof, samples
from maxmargin.html_report.subject import Subject

STYLE = Html("""
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2127;--dim:#5b6570;--rule:#d8dde3;--card:#f5f7f9;--accent:#0072b2;--band:#8a949e;
--k0:#0072b2;--k1:#d55e00;--k2:#009e73;--k3:#a5568a;--k4:#b07a00;--k5:#2a8fc4;--k6:#6b6b6b;--k7:#8c8200}
@media (prefers-color-scheme:dark){:root{--bg:#15191d;--fg:#e4e8ec;--dim:#a0aab4;--rule:#39424b;--card:#1e242a;--accent:#6cbdf0;
--band:#93a0ac;--k0:#56b4e9;--k1:#ff8c42;--k2:#2fd0a0;--k3:#e39ac6;--k4:#f0b429;--k5:#8fd0f5;--k6:#b5b5b5;--k7:#e6dc4a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:50rem;padding:1.2rem 1rem 3rem;background:var(--bg);color:var(--fg);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
p{margin:.6rem 0;overflow-wrap:anywhere}.sub{color:var(--dim)}
.verdict{background:var(--card);border-left:4px solid var(--accent);padding:.7rem .9rem;border-radius:3px}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.8rem 0}
a{color:var(--accent)}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.9rem;min-width:50%}
caption{text-align:left;color:var(--dim);padding:.2rem 0;caption-side:top}
th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
tbody th{font-weight:500;overflow-wrap:break-word;min-width:6rem;max-width:18rem}thead th{color:var(--dim);font-weight:600}
td.n,th.n{text-align:right;padding:.3rem 0 .3rem .8rem;font-variant-numeric:tabular-nums}
code,pre{font:.88em/1.5 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
td code{overflow-wrap:anywhere}.hash{overflow-wrap:anywhere}
pre{background:var(--card);padding:.8rem;overflow-x:auto;border-radius:3px}
figure{margin:1rem 0}figcaption{color:var(--dim);font-size:.9rem}
summary{cursor:pointer;color:var(--accent)}
.vacuous{color:var(--k1)}
.cell{display:inline-block;min-width:6.5rem;white-space:nowrap}
.share{display:block;height:4px;background:var(--k0);margin:3px 0 0 auto}table.wide{min-width:46rem}
.chart{display:block;width:100%;max-width:40rem;height:auto}
.chart text{font-size:13.5px;fill:var(--fg)}.chart .lab{fill:var(--dim)}
.axis{stroke:var(--fg);stroke-width:1}.grid{stroke:var(--rule);stroke-width:1}
.zero{stroke:var(--fg);stroke-width:2.2;fill:none}.edge{stroke:var(--fg);stroke-width:1.1;fill:none}
.tol{stroke:var(--fg);stroke-width:1.2;stroke-dasharray:2 3}
.band{fill:var(--band);fill-opacity:.22;shape-rendering:crispEdges}.region{fill-opacity:.16;shape-rendering:crispEdges}
.mark{fill-opacity:0;stroke-width:1.3}.mark.full{fill-opacity:.6}
.cross{stroke:var(--fg);stroke-width:1.6;fill:none}.ring{stroke:var(--fg);stroke-width:1.2;fill:none}
.k0{fill:var(--k0);stroke:var(--k0)}.k1{fill:var(--k1);stroke:var(--k1)}.k2{fill:var(--k2);stroke:var(--k2)}
.k3{fill:var(--k3);stroke:var(--k3)}.k4{fill:var(--k4);stroke:var(--k4)}.k5{fill:var(--k5);stroke:var(--k5)}
.k6{fill:var(--k6);stroke:var(--k6)}.k7{fill:var(--k7);stroke:var(--k7)}
.region{stroke:none}
.bar{stroke:var(--bg);stroke-width:.8}.z0{fill:var(--fg)}.z1{fill:var(--k4)}.z2{fill:var(--k0)}.z3{fill:var(--k2)}
.trace{stroke:var(--k0);stroke-width:2;fill:none}.trace.others{stroke:var(--dim);stroke-width:1;stroke-opacity:.7}
.dot{fill:var(--k0)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;padding:0;margin:.3rem 0;font-size:.9rem}
.legend li{display:flex;align-items:center;gap:.35rem;overflow-wrap:anywhere}.key{width:22px;height:16px;flex:none}
@media (max-width:34rem){.chart text{font-size:17px}body{font-size:15px}}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--dim:#444;--rule:#bbb;--card:#f2f2f2;--band:#8a949e;--accent:#0072b2;
--k0:#0072b2;--k1:#d55e00;--k2:#009e73;--k3:#a5568a;--k4:#b07a00;--k5:#2a8fc4;--k6:#6b6b6b;--k7:#8c8200}
body{max-width:none;font-size:10.5pt;padding:0}nav{display:none}h2{break-after:avoid}figure,tr,pre{break-inside:avoid}
details::details-content{content-visibility:visible!important}.chart{max-width:13cm}.scroll{overflow:visible}table.wide{min-width:0}}
""")


def page(subject: Subject, title: str | None) -> str:
    """The whole document."""
    name = type(subject.estimator).__name__
    heading = (
        title
        or f"{name}: {' against '.join(subject.classes) if subject.is_binary else f'{len(subject.classes)} classes'}"
    )
    makers = (asked, certificate, samples, boundary, proof, features, support, left_out, promises, again)
    sections = [found for make in makers if (found := make(subject))]
    links = [element("li", element("a", one.heading, href=f"#{one.anchor}")) for one in sections]
    with_proof = ", with its proof" if subject.has_certificate else ""
    subtitle = f"{name} on {number(subject.n)} samples{with_proof}. A report of maxmargin."
    body = element(
        "body",
        element("header", element("h1", heading), element("p", subtitle, class_="sub")),
        element("nav", element("ul", *links), aria_label="Sections"),
        element("main", *sections),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", heading),
        element("style", STYLE),
    )
    return f'<!DOCTYPE html>\n<html lang="en">{head}{body}</html>\n'
