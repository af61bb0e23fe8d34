"""The boards' search pages as the stand-in shows them to a browser: each asks its board's API by a small script.

Boss's list grows as one scrolls; 51job and Zhaopin have buttons. Where the API refuses, the script leads to a check or
a login, in which it stays until «a person» comes (`POST /_control/person`); then it leads back, as at the boards.
"""

from dataclasses import dataclass

from tests.stand_in_board import Reply, as_html

PERSON_PATH = "/_control/person"

SEARCH = """<!DOCTYPE html>
<html lang="zh"><meta charset="utf-8"><title>stand-in</title>
<style>li { height: 400px } .geetest_panel { position: fixed; inset: 0; background: #ddd }</style>
<ul id="jobs"></ul>
<script>
const asked = new URLSearchParams(location.search);
let page = 0, busy = false, more = true;

function leave(address) {
  location.href = address + (address.includes("?") ? "&" : "?") + new URLSearchParams({callbackUrl: location.href});
}
async function passed() {
  return (await (await fetch("/_control/person")).json()).passed;
}
function cover(name) {
  document.body.insertAdjacentHTML("beforeend", `<div class="${name}">请完成验证</div>`);
  setInterval(async () => { if (await passed()) location.reload(); }, 50);
}
async function show(number) {
  if (busy || !more) return;
  busy = true;
  const answer = await ask(number);
  if (answer.redirected) return leave(answer.url);
  if (!answer.ok) return;
  const isText = (answer.headers.get("Content-Type") || "").startsWith("text/html");
  const shown = isText ? refused(await answer.text()) : read(await answer.json());
  if (!shown) return;
  [page, more, busy] = [number, shown.more, false];
  shown.titles.forEach(title => document.getElementById("jobs").append(
    Object.assign(document.createElement("li"), {textContent: title})));
  turned();
}
SCRIPT
show(1);
</script></html>
"""

WATERFALL = """
function turned() {}
addEventListener("scroll", () => {
  if (innerHeight + scrollY >= document.documentElement.scrollHeight - 100) show(page + 1);
});
"""
BOSS = """
function ask(number) {
  const query = {scene: 1, query: asked.get("query"), city: asked.get("city"), page: number, pageSize: 15};
  return fetch("/wapi/zpgeek/search/joblist.json?" + new URLSearchParams(query));
}
function refused() { return leave("/web/user/safe/verify-slider"); }
function read(content) {
  if (content.code === 36) return cover("geetest_panel");
  if (content.code === 7) return leave("/web/user/?ka=header-login");
  if (content.code !== 0) return leave("/web/user/safe/verify-slider");
  return {titles: content.zpData.jobList.map(job => job.jobName), more: content.zpData.hasMore};
}
"""

BUTTON = """
const button = Object.assign(document.createElement("button"), {className: NAME, textContent: "下一页"});
button.disabled = true;
document.body.append(Object.assign(document.createElement("div"), {className: "el-pagination"}));
document.querySelector(".el-pagination").append(button);
button.onclick = () => show(page + 1);
function turned() { button.disabled = !more; }
"""
QCWY = """
function ask(number) {
  const query = {keyword: asked.get("keyword"), jobArea: asked.get("jobArea"), pageNum: number, pageSize: 20};
  return fetch("/api/job/search-pc?" + new URLSearchParams(query));
}
function refused(text) {
  return text.includes("login.51job.com") ? leave("/login.51job.com/login.php") : cover("waf-nc-title");
}
function read(content) {
  if (content.status === "1002") return leave("/login.51job.com/login.php");
  if (content.status !== "1") return cover("nc_bg");
  const job = content.resultbody.job;
  return {titles: job.items.map(item => item.jobName), more: (page + 1) * job.items.length < job.totalCount};
}
"""
ZHILIAN = """
function ask(number) {
  const body = {S_SOU_FULL_INDEX: asked.get("kw"), S_SOU_WORK_CITY: asked.get("jl"), pageSize: 20, pageIndex: number};
  return fetch("/c/i/search/positions", {
    method: "POST", headers: {"Content-Type": "application/json;charset=UTF-8"}, body: JSON.stringify(body)});
}
function refused(text) {
  return text.includes("passport.zhaopin.com") ? leave("/passport.zhaopin.com/login") : cover("geetest_panel");
}
function read(content) {
  if (content.code === 401) return leave("/passport.zhaopin.com/login");
  if (content.code !== 200 || content.data.isVerification) return cover("geetest_panel");
  return {titles: content.data.list.map(item => item.name || "广告"), more: !content.data.isEndPage};
}
"""

AWAY = """<!DOCTYPE html>
<html lang="zh"><meta charset="utf-8"><title>stand-in</title><p>请按住滑块</p>
<script>
const back = new URLSearchParams(location.search).get("callbackUrl");
if (back) setInterval(async () => {
  if ((await (await fetch("/_control/person")).json()).passed) location.replace(back);
}, 50);
</script></html>
"""


@dataclass(frozen=True)
class SearchPage:
    """Where a board's search page is, and what its script does."""

    path: str
    script: str


SEARCH_PAGES = {
    "boss": SearchPage("/web/geek/jobs", WATERFALL + BOSS),
    "qcwy": SearchPage("/pc/search", BUTTON.replace("NAME", '"btn-next"') + QCWY),
    "zhilian": SearchPage("/sou/", BUTTON.replace("NAME", '"soupager__btn"') + ZHILIAN),
}
SCRIPTS = {page.path: page.script for page in SEARCH_PAGES.values()}


class Pages:
    """What a browser is shown, and whether the person has come since the API last refused."""

    def __init__(self) -> None:
        self.person_came = False

    def reply(self, path: str) -> Reply:
        script = SCRIPTS.get(path)
        # Any other address is a check or a login: also what a client sees that follows a redirect to one.
        return as_html(SEARCH.replace("SCRIPT", script) if script else AWAY)
