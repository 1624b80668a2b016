// A story as one HTML page: its steps as data, and a few lines of script that draw them.
#include <fmt/format.h>

#include "tools/explain/story.h"

namespace flashlab {

namespace {

/// Inside a script element nothing may look like its end.
std::string for_script(std::string json) {
    for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3) json.replace(at, 2, "<\\/");
    return json;
}

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>FlashLab: )";

constexpr const char* style_and_body = R"(</title>
<style>
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--line:#c9d1d9;--newest:#2f7d4f;--stale:#b9bec5;--own:#3b6ea8;--damaged:#b3261e;--changed:#e0a100}
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e6e8ea;--line:#3a4149;--newest:#2f8f58;--stale:#4a5159;--own:#3f76b5;--damaged:#c5463d}}
body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:70rem;padding:0 1rem;background:var(--paper);color:var(--ink)}
h1{font-size:1.3rem}nav{display:flex;gap:.5rem;align-items:center;flex-wrap:wrap}button{font:inherit;padding:.3rem .9rem}input[type=range]{flex:1;min-width:10rem}
#flash{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.6rem;margin:1rem 0}
.block{border:1px solid var(--line);border-radius:.4rem;padding:.35rem .5rem}.block.changed{border-color:var(--changed);box-shadow:0 0 0 1px var(--changed)}
.block small{display:flex;justify-content:space-between}.pages{display:grid;grid-template-columns:repeat(auto-fit,minmax(2.4rem,1fr));gap:3px;margin-top:.2rem}
.page{border:1px solid var(--line);border-radius:.2rem;text-align:center;font:13px/1.7 ui-monospace,monospace;min-height:1.7em}
.newest{background:var(--newest);color:#fff}.stale{background:var(--stale);text-decoration:line-through}.own{background:var(--own);color:#fff}.damaged{background:var(--damaged);color:#fff}
.page.changed{outline:2px solid var(--changed)}.wear{height:.35rem;background:var(--changed);border-radius:.2rem;margin-top:.3rem}
table{border-collapse:collapse}td{padding:.1rem .8rem .1rem 0}td+td{text-align:right;font-variant-numeric:tabular-nums}
@media print{nav{display:none}.page,.wear{print-color-adjust:exact;-webkit-print-color-adjust:exact}.block{break-inside:avoid}}
</style></head><body>
<h1 id="name"></h1>
<nav aria-label="steps"><button id="first">First</button><button id="back">Back</button><button id="step">Step</button><button id="play">Play</button>
<input type="range" id="at" min="0" value="0" aria-label="step"><span id="count"></span></nav>
<h2 id="title" aria-live="polite"></h2><ul id="lines"></ul><div id="flash"></div>
<p><span class="page newest">&nbsp;5&nbsp;</span> newest copy of page 5 &ensp;<span class="page stale">&nbsp;5&nbsp;</span> stale &ensp;<span class="page own">&nbsp;T0&nbsp;</span>
translation page 0, C checkpoint, J journal, S summary, B backup, ~ padding &ensp;<span class="page damaged">&nbsp;##&nbsp;</span> damaged by a power cut.
Framed: changed by this step. Keys: arrows step, Home goes to the beginning, the space bar plays.</p>
<table id="totals"></table>
<script id="data" type="application/json">)";

constexpr const char* script = R"(</script>
<script>
'use strict';
const story=JSON.parse(document.getElementById('data').textContent),$=id=>document.getElementById(id);let at=0,timer=0;
const el=(name,cls,text)=>{const e=document.createElement(name);e.className=cls;if(text!==undefined)e.textContent=text;return e};
function draw(){
 const frame=story.steps[at],before=at?story.steps[at-1].blocks:frame.blocks,most=Math.max(1,...story.steps[story.steps.length-1].blocks.map(b=>b.erases));
 $('title').textContent=frame.title;$('count').textContent=at+' of '+(story.steps.length-1);$('at').value=at;
 $('lines').replaceChildren(...frame.lines.map(l=>el('li','',l)));
 $('flash').replaceChildren(...frame.blocks.map((b,i)=>{
  const box=el('div','block'),top=el('small',''),pages=el('div','pages');let changed=b.erases!==before[i].erases;
  top.append(el('span','','block '+i+(b.bad?' (bad)':'')),el('span','',b.erases+(b.erases===1?' erase':' erases')));
  b.pages.forEach((p,j)=>{const was=before[i].pages[j],now=p.mark!==was.mark||p.text!==was.text;changed=changed||now;
   pages.append(el('div','page '+p.mark+(now?' changed':''),p.page!==undefined?p.page:p.text))});
  const wear=el('div','wear');wear.style.width=100*b.erases/most+'%';wear.title='wear';
  if(changed)box.classList.add('changed');box.append(top,pages,wear);return box}));
 $('totals').replaceChildren(...Object.entries(frame.totals).map(([k,v])=>{const r=el('tr','');
  r.append(el('td','',k.replaceAll('_',' ')),el('td','',v===null?'-':Number.isInteger(v)?v:v.toFixed(2)));return r}));
}
function go(n){at=Math.min(Math.max(n,0),story.steps.length-1);if(at===story.steps.length-1)stop();draw()}
function stop(){clearInterval(timer);timer=0;$('play').textContent='Play'}
function play(){if(timer)return stop();if(at===story.steps.length-1)go(0);$('play').textContent='Pause';timer=setInterval(()=>go(at+1),900)}
$('name').textContent='FlashLab: '+story.ftl+' on '+story.blocks+' blocks of '+story.pages_per_block+' pages, '+story.logical_pages+' of them for the host';
$('at').max=story.steps.length-1;$('at').oninput=e=>{stop();go(+e.target.value)};
$('first').onclick=()=>{stop();go(0)};$('back').onclick=()=>{stop();go(at-1)};$('step').onclick=()=>{stop();go(at+1)};$('play').onclick=play;
addEventListener('keydown',e=>{if(e.target.tagName==='BUTTON'&&e.key===' ')return;
 if(e.key==='ArrowRight'){stop();go(at+1)}else if(e.key==='ArrowLeft'){stop();go(at-1)}else if(e.key==='Home'){stop();go(0)}else if(e.key===' '){play()}else return;e.preventDefault()});
go(story.steps.length-1);
</script></body></html>
)";

} // namespace

std::string to_html(const Story& story) {
    return fmt::format("{}{}{}{}{}", head, story.scheme, style_and_body, for_script(to_json(story).dump()), script);
}

} // namespace flashlab
