"""The one style sheet is sent inline with every page."""

STYLESHEET = """
*{box-sizing:border-box}
body{margin:0;background:#f3f5f7;color:#16232f;font:15px/1.5 "Segoe UI",Inter,"Helvetica Neue",
"DejaVu Sans",Arial,sans-serif}
a{color:#0b5c8a;text-decoration:none}
a:hover{text-decoration:underline}
h1{font-size:26px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:16px;margin:0 0 12px}
.masthead{background:#0d2a40;color:#fff;border-bottom:3px solid #c08a2d}
.masthead-inner{max-width:1080px;margin:0 auto;padding:0 24px;min-height:60px;display:flex;
align-items:center;gap:32px;flex-wrap:wrap}
.brand{display:flex;align-items:center;gap:10px;font-weight:700;font-size:18px;letter-spacing:.02em}
.menu{display:flex;gap:4px;flex:1;align-items:center}
.menu a{color:#d5e1ea;padding:8px 14px;border-radius:6px;display:block}
.menu a:hover{background:#17405f;text-decoration:none}
.menu a[aria-current]{background:#1c4c70;color:#fff}
.who{color:#9fb6c7;font-size:13px}
.content{max-width:1080px;margin:0 auto;padding:28px 24px 48px}
.lead{color:#566878;margin:0 0 20px}
.card{background:#fff;border:1px solid #dde3e8;border-radius:10px;padding:20px 22px;
margin:0 0 20px;box-shadow:0 1px 2px rgba(13,42,64,.05)}
.tiles{display:grid;grid-template-columns:repeat(3,1fr);gap:16px;margin:0 0 20px}
.tile{background:#fff;border:1px solid #dde3e8;border-radius:10px;padding:16px 20px}
.tile b{display:block;font-size:28px;line-height:1.2;color:#0d2a40}
.tile span{color:#566878;font-size:13px}
table{width:100%;border-collapse:collapse}
caption{text-align:left;color:#566878;font-size:13px;padding:0 0 8px}
th{text-align:left;font-weight:600;font-size:13px;color:#566878}
th,td{padding:9px 10px;border-bottom:1px solid #e8ecf0;vertical-align:top}
tbody th{font-size:15px;color:inherit}
tbody tr:last-child>*{border-bottom:0}
.tag{display:inline-block;border-radius:99px;padding:1px 10px;font-size:13px;background:#e4edf4;
color:#0d4468}
.delivered{background:#e1f1e6;color:#1b6336}
.on-hold{background:#fbe9d8;color:#8a4a0b}
.packed{background:#efe8f8;color:#55318a}
.facts{display:grid;grid-template-columns:160px 1fr;gap:8px 16px;margin:0}
.facts dt{color:#566878}
.facts dd{margin:0;white-space:pre-line;overflow-wrap:anywhere}
.field{margin:0 0 16px}
.field label,.choices legend{display:block;font-weight:600;font-size:14px;margin:0 0 5px;padding:0}
.field input,.field select,.field textarea{width:100%;font:inherit;padding:8px 11px;
border:1px solid #b9c5cf;border-radius:6px;background:#fff;color:inherit}
.field input,.field select{height:40px}
.field textarea{min-height:84px;resize:vertical}
.field [aria-invalid]{border-color:#b3261e}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:0 20px}
.choices{border:0;margin:0 0 16px;padding:0}
.choices label{display:inline-flex;align-items:center;gap:7px;margin:0 22px 0 0}
.searchbar{display:flex;gap:12px;align-items:flex-end;max-width:560px}
.searchbar .field{flex:1}
.searchbar .button{margin:0 0 16px}
.actions{display:flex;gap:12px;align-items:center;margin:4px 0 20px;flex-wrap:wrap}
.button{font:inherit;font-weight:600;border:1px solid #b9c5cf;background:#fff;color:#16232f;
border-radius:6px;padding:8px 18px;cursor:pointer;display:inline-block;line-height:1.5}
.button:hover{background:#eef2f5;text-decoration:none}
.primary{background:#0b5c8a;border-color:#0b5c8a;color:#fff}
.primary:hover{background:#094b71}
.mistake{color:#b3261e;font-size:13px;margin:4px 0 0}
.alert{border:1px solid #e3b2ae;background:#fdf1f0;color:#8c1d17;border-radius:8px;
padding:10px 14px;margin:0 0 18px}
.estimate{display:flex;justify-content:space-between;background:#f6f8fa;border-radius:8px;
padding:12px 16px;margin:0 0 18px}
.estimate output{font-weight:700}
.gate{max-width:400px;margin:9vh auto 0;padding:0 20px}
.gate .brand{color:#0d2a40;margin:0 0 18px;justify-content:center;font-size:22px}
.gate .button{width:100%}
.banner{display:flex;justify-content:space-between;gap:16px;align-items:center;background:#fff6df;
border:1px solid #ecd59a;border-radius:8px;padding:10px 16px;margin:0 0 20px}
.toast{position:fixed;right:24px;bottom:24px;background:#14532d;color:#fff;border-radius:8px;
padding:12px 20px;box-shadow:0 6px 20px rgba(0,0,0,.2)}
.overlay{position:fixed;inset:0;background:rgba(13,42,64,.55);display:flex;align-items:center;
justify-content:center;z-index:10}
.overlay[hidden]{display:none}
.consent{background:#fff;border-radius:10px;padding:24px 28px;max-width:440px}
.foot{max-width:1080px;margin:0 auto;padding:0 24px 28px;color:#7b8a97;font-size:13px}
""".strip()
