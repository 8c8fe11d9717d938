// The page around the data of the HTML report. Marks @LIKE_THIS@ are filled in by html.cc, in this order.
// Private to scan.
#pragma once

#include <string_view>

namespace vacant::scan {

inline constexpr std::string_view kHtmlPage = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>@TITLE@</title>
<style>
:root{color-scheme:light dark;--bg:#f6f7f9;--panel:#fff;--ink:#1b2330;--soft:#5b6677;--line:#d9dee6;--accent:#1f5fbf;
--c0:#eceff3;--c1:#d7dde6;--c2:#7fb2e5;--c3:#5fc3c0;--c4:#8fcf8a;--c5:#c9b6e4;--c6:#c1272d;--c7:#ee9a2e;--c8:#2b2b2b;--c9:#8a5a3c}
:root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark;--bg:#12161c;--panel:#1a2029;--ink:#e4e9f0;--soft:#98a4b5;--line:#2d3643;--accent:#7db2ff;
--c0:#20262f;--c1:#2d3643;--c2:#3f7fbf;--c3:#2f9a97;--c4:#57a452;--c5:#8d74b8;--c6:#ff5a5f;--c7:#ffb347;--c8:#f2f2f2;--c9:#c08a63}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:24px}header.top{display:flex;gap:16px;align-items:baseline;flex-wrap:wrap}
h1{font-size:17px;font-weight:600;margin:0;overflow-wrap:anywhere}h2{font-size:15px;margin:28px 0 10px}
.verdict{font-size:26px;font-weight:700;padding:6px 16px;border-radius:8px;color:#fff;background:#8a5a00}
.verdict.vacant{background:#1e7d3c}.verdict.residue,.verdict.secret{background:#b3191f}
.reasons{margin:12px 0;padding-left:20px}.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 14px}
.card b{display:block;font-size:22px;font-variant-numeric:tabular-nums}.card span{color:var(--soft);font-size:13px}
.card.hit{border-color:var(--c6)}.card.hit b{color:var(--c6)}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px}
.grid{display:grid;grid-template-columns:minmax(0,1fr) 320px;gap:16px}@media(max-width:860px){.grid{grid-template-columns:1fr}}
table{border-collapse:collapse;width:100%;font-size:13px}th,td{text-align:left;padding:5px 8px;border-bottom:1px solid var(--line);
vertical-align:top;overflow-wrap:anywhere}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible,button:focus-visible,input:focus-visible,
canvas:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
#findings th,#findings td:nth-child(-n+6){overflow-wrap:normal}
.swatch{display:inline-block;width:12px;height:12px;border-radius:3px;border:1px solid var(--line);margin-right:7px;
vertical-align:-1px}tr.bad td:first-child{font-weight:700}
.bar{display:flex;height:14px;border-radius:5px;overflow:hidden;border:1px solid var(--line);margin-bottom:12px}
.tools{display:flex;gap:8px;flex-wrap:wrap;margin-bottom:10px;align-items:center}
.tools button,.tools input,.tools select,#theme{font:inherit;font-size:13px;padding:4px 10px;border:1px solid var(--line);border-radius:6px;
background:var(--bg);color:var(--ink)}.tools button[aria-pressed=true]{background:var(--accent);color:var(--panel)}
.tools input{flex:1;min-width:160px}#map{width:100%;height:460px;display:block;border-radius:6px;cursor:crosshair;touch-action:none}
#tip{min-height:3em;font-size:13px;color:var(--soft);margin:8px 0 0;font-variant-numeric:tabular-nums}
#theme{margin-left:auto}.scroll{max-height:640px;overflow:auto}.facts th{width:110px;color:var(--soft);font-weight:500}
footer{color:var(--soft);font-size:12px;margin-top:28px}
@media print{body{background:#fff}.tools,#theme{display:none}.scroll{max-height:none}main{max-width:none;padding:0}}
</style></head><body><main>
<header class="top"><span class="verdict @VERDICT_CLASS@">@VERDICT@</span><h1>@SOURCE@</h1>
<button id="theme" type="button">Dark</button></header>
<ul class="reasons">@REASONS@</ul><section class="cards" aria-label="What was found">@CARDS@</section>
<div class="grid"><section><h2>Block map</h2><div class="panel">
<div class="tools"><button id="hilbert" type="button" aria-pressed="true">Hilbert</button>
<button id="rows" type="button" aria-pressed="false">Rows</button><button id="in" type="button" aria-label="Zoom in">+</button>
<button id="out" type="button" aria-label="Zoom out">&minus;</button><button id="fit" type="button">Fit</button>
<span id="scale"></span></div>
<canvas id="map" tabindex="0" role="img" aria-label="Map of the device, coloured by the worst class of each cell"></canvas>
<p id="tip">Point at a cell, or use the arrow keys. Wheel or + and &minus; zoom, dragging moves.</p></div></section>
<section><h2>Classes</h2><div class="panel"><div class="bar" id="bar"></div><table id="classes"><thead><tr><th>class</th>
<th class="n">bytes</th><th class="n">%</th></tr></thead><tbody></tbody></table></div></section></div>
<h2>Findings <span id="count"></span></h2><div class="panel"><div class="tools">
<input id="filter" type="search" placeholder="Filter: rule, class, path, origin" aria-label="Filter findings"></div>
<div class="scroll"><table id="findings"><thead><tr></tr></thead><tbody></tbody></table></div></div>
<h2>What was scanned</h2><div class="panel"><table class="facts">@FACTS@</table></div>@LISTS@
<footer>No content of the device is in this report: offsets, lengths and structure only.</footer>
</main><script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const D=JSON.parse(document.getElementById("data").textContent),$=i=>document.getElementById(i);
const severity=[0,1,2,3,4,5,9,8,7,6],fmt=n=>n.toLocaleString("en-US");
const human=n=>{const u=["B","KiB","MiB","GiB","TiB"];let i=0;while(n>=1024&&i<4){n/=1024;i++}return n.toFixed(i?1:0)+" "+u[i]};
const worst=c=>{let w=0,s=-1;for(let i=0;i<c.length;i+=2)if(severity[c[i]]>s){s=severity[c[i]];w=c[i]}return w};
const colour=()=>{const s=getComputedStyle(document.documentElement);
 return D.classes.map((_,i)=>s.getPropertyValue("--c"+i).trim())};
let palette=[],order="hilbert",view={x:0,y:0,s:1},cursor=-1;
const n=D.cells.length;let side=1;while(side*side<n)side*=2;
function d2xy(d){let x=0,y=0;for(let s=1;s<side;s*=2){const rx=1&(d/2),ry=1&(d^rx);
 if(!ry){if(rx){x=s-1-x;y=s-1-y}[x,y]=[y,x]}x+=s*rx;y+=s*ry;d=Math.floor(d/4)}return[x,y]}
const canvas=$("map"),ctx=canvas.getContext("2d");
function layout(){const w=canvas.clientWidth,h=canvas.clientHeight,r=window.devicePixelRatio||1;
 canvas.width=w*r;canvas.height=h*r;ctx.setTransform(r,0,0,r,0,0);
 let cols=side,rows=side,cell;if(order==="rows"){cols=Math.max(1,Math.ceil(Math.sqrt(n*w/h)));rows=Math.max(1,Math.ceil(n/cols))}
 cell=Math.min(w/cols,h/rows);return{w,h,cols,rows,cell,ox:(w-cols*cell)/2,oy:(h-rows*cell)/2}}
const where=[];function place(L){where.length=0;for(let i=0;i<n;i++)where.push(order==="hilbert"?d2xy(i):[i%L.cols,Math.floor(i/L.cols)])}
function draw(){const L=layout();if(where.length!==n||draw.o!==order||draw.c!==L.cols){place(L);draw.o=order;draw.c=L.cols}
 draw.L=L;ctx.clearRect(0,0,L.w,L.h);ctx.save();ctx.translate(view.x,view.y);ctx.scale(view.s,view.s);
 const pad=L.cell*view.s>5?.6/view.s:0;for(let i=0;i<n;i++){ctx.fillStyle=palette[worst(D.cells[i])];
 ctx.fillRect(L.ox+where[i][0]*L.cell,L.oy+where[i][1]*L.cell,L.cell-pad+.05,L.cell-pad+.05)}
 if(cursor>=0){ctx.strokeStyle=getComputedStyle(document.body).color;ctx.lineWidth=2/view.s;
 ctx.strokeRect(L.ox+where[cursor][0]*L.cell,L.oy+where[cursor][1]*L.cell,L.cell,L.cell)}ctx.restore();
 $("scale").textContent=n+" cells of "+human(D.cellBytes);canvas.dataset.drawn=String(n)}
function at(px,py){const L=draw.L,x=Math.floor(((px-view.x)/view.s-L.ox)/L.cell),y=Math.floor(((py-view.y)/view.s-L.oy)/L.cell);
 for(let i=0;i<n;i++)if(where[i][0]===x&&where[i][1]===y)return i;return -1}
function tell(i){cursor=i;draw();if(i<0)return;const c=D.cells[i],o=i*D.cellBytes,e=Math.min(D.size,o+D.cellBytes);
 let t="bytes "+fmt(o)+" to "+fmt(e-1)+": ";for(let k=0;k<c.length;k+=2)t+=(k?", ":"")+D.classes[c[k]].name+" "+fmt(c[k+1]);
 $("tip").textContent=t}
function zoom(f,px,py){const s=Math.min(64,Math.max(1,view.s*f));f=s/view.s;view.x=px-(px-view.x)*f;view.y=py-(py-view.y)*f;
 view.s=s;if(s===1){view.x=0;view.y=0}draw()}
let drag=null;canvas.addEventListener("pointerdown",e=>{drag=[e.offsetX-view.x,e.offsetY-view.y];canvas.setPointerCapture(e.pointerId)});
canvas.addEventListener("pointerup",()=>{drag=null});
canvas.addEventListener("pointermove",e=>{if(drag&&view.s>1){view.x=e.offsetX-drag[0];view.y=e.offsetY-drag[1];draw()}
 else tell(at(e.offsetX,e.offsetY))});
canvas.addEventListener("wheel",e=>{e.preventDefault();zoom(e.deltaY<0?1.25:.8,e.offsetX,e.offsetY)},{passive:false});
canvas.addEventListener("keydown",e=>{const L=draw.L,m={ArrowRight:[1,0],ArrowLeft:[-1,0],ArrowUp:[0,-1],ArrowDown:[0,1]}[e.key];
 if(e.key==="+"||e.key==="-")zoom(e.key==="+"?1.25:.8,L.w/2,L.h/2);if(!m)return;e.preventDefault();
 if(cursor<0)return tell(0);const[x,y]=where[cursor];const i=where.findIndex(p=>p[0]===x+m[0]&&p[1]===y+m[1]);if(i>=0)tell(i)});
$("in").onclick=()=>zoom(1.5,draw.L.w/2,draw.L.h/2);$("out").onclick=()=>zoom(1/1.5,draw.L.w/2,draw.L.h/2);
$("fit").onclick=()=>{view={x:0,y:0,s:1};draw()};
for(const o of["hilbert","rows"])$(o).onclick=()=>{order=o;for(const p of["hilbert","rows"])$(p).setAttribute("aria-pressed",p===o);
 view={x:0,y:0,s:1};draw()};
function el(tag,text,cls){const e=document.createElement(tag);if(text!==undefined)e.textContent=text;if(cls)e.className=cls;return e}
function classes(){const body=$("classes").tBodies[0],bar=$("bar");body.replaceChildren();bar.replaceChildren();
 D.classes.forEach((c,i)=>{const row=el("tr",undefined,c.bytes&&!c.accepted?"bad":"");const first=el("td");
 const s=el("span",undefined,"swatch");s.style.background=palette[i];first.append(s,c.name+(c.accepted?"":" *"));
 row.append(first,el("td",fmt(c.bytes),"n"),el("td",D.size?(100*c.bytes/D.size).toFixed(2):"0","n"));body.append(row);
 if(c.bytes){const p=el("div");p.style.background=palette[i];p.style.width=Math.max(.4,100*c.bytes/D.size)+"%";
 p.title=c.name;bar.append(p)}});
 const note=el("tr"),cell=el("td","* not accepted by this policy");cell.colSpan=3;note.append(cell);body.append(note)}
const columns=[["origin",1],["rule",2],["kind",3],["confidence",4],["class",5],["bytes",6],["place",7],["facts",8]];
let sort=[0,1];function findings(){const words=$("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
 const rows=D.findings.filter(f=>{const t=f.join(" ").toLowerCase();return words.every(w=>t.includes(w))});
 const key=sort[0]===0?0:columns[sort[0]][1];
 rows.sort((a,b)=>sort[1]*(typeof a[key]==="number"?a[key]-b[key]:a[key]<b[key]?-1:a[key]>b[key]?1:0));
 const body=$("findings").tBodies[0];body.replaceChildren();for(const f of rows.slice(0,2000)){const r=el("tr");
 for(const[label,k]of columns)r.append(el("td",typeof f[k]==="number"?fmt(f[k]):f[k],label==="bytes"?"n":""));body.append(r)}
 $("count").textContent="("+fmt(rows.length)+" of "+fmt(D.findingCount)+(D.findings.length<D.findingCount?", the first "+
 fmt(D.findings.length)+" are here":"")+")"}
columns.forEach(([label],i)=>{const h=el("th",undefined,label==="bytes"?"n":""),b=el("button",label);b.type="button";
 b.onclick=()=>{sort=[i,sort[0]===i?-sort[1]:1];findings()};h.append(b);$("findings").tHead.rows[0].append(h)});
$("filter").oninput=findings;
function theme(t){document.documentElement.dataset.theme=t;$("theme").textContent=t==="dark"?"Light":"Dark";palette=colour();
 classes();draw()}
$("theme").onclick=()=>theme(document.documentElement.dataset.theme==="dark"?"light":"dark");
const asked=location.hash.slice(1);theme(asked==="dark"||asked==="light"?asked:
 matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light");findings();window.addEventListener("resize",draw);
document.body.dataset.ready="1";
</script></body></html>
)page";

}  // namespace vacant::scan
