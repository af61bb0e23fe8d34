"""What the world left behind, compared: the stand-in's access log, the stored jobs, the database, the logs."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from jobs_spider.cities import CityTable
from tests.chaos.world import LEASE_SECONDS, PAGE_SIZE, PAGES, World
from tests.stand_in import BY_SOURCE

STAMP = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})"
CLAIMED = re.compile(STAMP + r" INFO \S+ claimed source=(\w+) keyword=(\d+) page=(\d+) crawler=(\S+)")
TOOK = re.compile(STAMP + r" INFO (?:\S+ )?claimed keyword=(\d+) ")
ENDED = re.compile(STAMP + r" \w+ (?:\S+ )?keyword ended keyword=(\d+) .*?reason='([^']*)'")

KEPT = re.compile(r"report kept keyword=(\d+) .*? page=(\d+) ")


@dataclass(frozen=True)
class Claim:
    """One claim, as a service logged it."""

    at: float
    source: str
    keyword: int
    page: int
    crawler: str


@dataclass
class Report:
    """The figures of a run, and each promise that was broken."""

    figures: dict[str, Any] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def audit(world: World) -> Report:
    report = Report()
    claims = read_claims(world.folder)
    items = world.listed()
    _check_keywords(world, items, report)
    _check_jobs(world, items, report)
    _check_fetches(world, items, claims, report)
    _check_robberies(world, claims, report)
    report.figures |= {
        "keywords": len(items),
        "pages": PAGES * len(items),
        "jobs": PAGES * PAGE_SIZE * len(items),
        "claims": len(claims),
        "events": dict(Counter(event for _, event in world.events if " " not in event)),
        "requests through the proxy": world.proxy.requests,
        "faults of the proxy": dict(world.proxy.faults),
        "zombies told to stop": _count(world.folder, "reason='claim lost'"),
        "kill to next claim, seconds": _waits(world, claims),
    }
    return report


def read_claims(folder: Path) -> list[Claim]:
    found = []
    for log in folder.glob("service-*.log"):
        for line in CLAIMED.finditer(log.read_text(encoding="utf-8", errors="replace")):
            found.append(Claim(_seconds(line[1]), line[2], int(line[3]), int(line[4]), line[5]))
    return sorted(found, key=lambda claim: claim.at)


def _seconds(stamp: str) -> float:
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").timestamp()


def _count(folder: Path, words: str) -> int:
    return sum(log.read_text(encoding="utf-8", errors="replace").count(words) for log in folder.glob("*-[12].log"))


def _check_keywords(world: World, items: list[dict[str, Any]], report: Report) -> None:
    names = Counter((item["source"], item["job"]) for item in items)
    if names != Counter(world.keywords):
        report.broken.append("the work list is not what was added")
    for item in items:
        seen = (item["status"], item["last_completed_page"], item["jobs_found"])
        if seen != ("completed", PAGES, PAGES * PAGE_SIZE):
            report.broken.append(f"{item['source']} {item['job']}: {seen}")


def _check_jobs(world: World, items: list[dict[str, Any]], report: Report) -> None:
    stored = Counter((job["source"], job["job_id"]) for job in world.stored())
    expected = {
        (item["source"], identity)
        for item in items
        for page in range(1, PAGES + 1)
        for identity in BY_SOURCE[item["source"]].ids(
            CityTable(item["source"]).code("北京"), item["job"], page, PAGE_SIZE
        )
    }
    if lost := expected - stored.keys():
        report.broken.append(f"{len(lost)} jobs are not stored")
    if strange := stored.keys() - expected:
        report.broken.append(f"{len(strange)} jobs are stored that no board has")
    report.figures["jobs lost"] = len(lost)
    report.figures["jobs stored again"] = sum(stored.values()) - len(stored)


def _check_fetches(world: World, items: list[dict[str, Any]], claims: list[Claim], report: Report) -> None:
    """A page is fetched again only by a further claim of its keyword, and only the one that was in flight.

    Besides those whose report could not be delivered while the services were away: a spider that then falls silent
    for longer than its lease takes the news of them with it.
    """
    visits = [json.loads(line) for line in (world.folder / "access.jsonl").read_text(encoding="utf-8").splitlines()]
    good = Counter((v["board"], v["keyword"], v["page"]) for v in visits if v["outcome"] in ("ok", "bad_items", "slow"))
    claimed = Counter((claim.source, claim.keyword) for claim in claims)
    unheard = _unheard_pages(world)
    kills = sum(event in ("service_killed", "services_away", "database_killed") for _, event in world.events)
    again = 0
    for item in items:
        fetched = [good[item["source"], item["job"], page] for page in range(1, PAGES + 1)]
        if 0 in fetched:
            report.broken.append(f"{item['source']} {item['job']}: a page was never fetched")
        extra = sum(fetched) - PAGES
        again += extra
        # A service that is killed right after its commit cannot log the claim.
        if extra > claimed[item["source"], item["id"]] - 1 + kills + unheard[item["source"], item["id"]]:
            report.broken.append(f"{item['source']} {item['job']}: {extra} pages fetched again without a reason")
    report.figures["pages fetched again"] = again


def _unheard_pages(world: World) -> Counter[tuple[str, int]]:
    """How many pages of each keyword had to wait for their report."""
    pages = set()
    for spider in world.spiders:
        text = (world.folder / f"{spider.name}.log").read_text(encoding="utf-8", errors="replace")
        pages |= {(spider.source, int(found[1]), int(found[2])) for found in KEPT.finditer(text)}
    return Counter((source, keyword) for source, keyword, _ in pages)


def _check_robberies(world: World, claims: list[Claim], report: Report) -> None:
    """Nobody gets a keyword whose spider is alive and at work on it."""
    robbed = 0
    lives = {spider.name: _crawls(world.folder / f"{spider.name}.log") for spider in world.spiders}
    disturbed = {spider.name: spider.disturbed for spider in world.spiders}
    for claim in claims:
        for name, crawls in lives.items():
            if name == claim.crawler or not name.startswith(claim.source):
                continue
            for keyword, began, ended in crawls:
                # A second of slack each way: the logs of two processes.
                at_work = keyword == claim.keyword and began + 1 < claim.at < ended - 1
                if at_work and not any(start - 1 < claim.at and end > began for start, end in disturbed[name]):
                    robbed += 1
                    report.broken.append(f"{name} was robbed of {claim.source} {keyword} by {claim.crawler}")
    report.figures["living crawls robbed"] = robbed


def _crawls(log: Path) -> list[tuple[int, float, float]]:
    """What one spider had in its hands: keyword, from when, until when. A killed one held it until it died."""
    text = log.read_text(encoding="utf-8", errors="replace")
    moments = [(_seconds(found[1]), int(found[2]), "took") for found in TOOK.finditer(text)]
    moments += [(_seconds(found[1]), int(found[2]), found[3]) for found in ENDED.finditer(text)]
    crawls, open_since = [], dict[int, float]()
    for at, keyword, what in sorted(moments):
        if what == "took":
            open_since = {keyword: at}
        elif keyword in open_since:
            crawls.append((keyword, open_since.pop(keyword), at))
    return crawls


def _waits(world: World, claims: list[Claim]) -> dict[str, float]:
    """From the kill of a spider to the next claim of the keyword that it held."""
    by_keyword = defaultdict(list)
    for claim in claims:
        by_keyword[claim.source, claim.keyword].append(claim.at)
    waits = []
    for moment, source, keyword in world.kills:
        later = [at for at in by_keyword[source, keyword] if at > moment]
        if later:
            waits.append(later[0] - moment)
    if not waits:
        return {}
    return {
        "kills": len(waits),
        "median": round(median(waits), 1),
        "longest": round(max(waits), 1),
        "lease": LEASE_SECONDS,
    }
