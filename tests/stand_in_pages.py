"""The boards' search pages as the stand-in shows them to a browser: each asks its board's API by a small script.

Boss's list grows as one scrolls; 51job and Zhaopin have buttons. Where the API refuses, the script leads to a check or
a login, in which it stays until «a person» comes (`POST /_control/person`); then it leads back, as at the boards.
"""

from tests.stand_in_boss import Reply

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
  const shown = read(await answer.json(), number);
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
function read(content) {
  if (content.code === 36) return cover("geetest_panel");
  if (content.code === 7) return leave("/web/user/?ka=header-login");
  if (content.code !== 0) return leave("/web/user/safe/verify-slider");
  return {titles: content.zpData.jobList.map(job => job.jobName), more: content.zpData.hasMore};
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

SEARCH_PAGES = {"/web/geek/jobs": WATERFALL + BOSS}


class Pages:
    """What a browser is shown, and whether the person has come since the API last refused."""

    def __init__(self) -> None:
        self.person_came = False

    def reply(self, path: str) -> Reply:
        script = SEARCH_PAGES.get(path)
        # Any other address is a check or a login: also what a client sees that follows a redirect to one.
        text = SEARCH.replace("SCRIPT", script) if script else AWAY
        return Reply(200, text.encode(), "text/html; charset=utf-8")
