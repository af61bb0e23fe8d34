"""Signs of life while a page takes long."""

import threading

import pytest

from jobs_spider.client import Claim, ClaimLost, KeywordClient, UnknownKeyword
from jobs_spider.crawl import Ending
from jobs_spider.heartbeat import Heartbeat
from tests.spider.conftest import MakeKit, crawl
from tests.spider.service import Scripted, Service
from tests.stand_in import Fault, StandIn
from tests.stand_in_board import Visit

SOON = 0.001


def slow_page(monkeypatch: pytest.MonkeyPatch, board: StandIn, until: threading.Event) -> None:
    """The board's answers wait for this event."""
    admit = board.admit

    def admit_later(visit: Visit) -> Fault | None:
        fault = admit(visit)
        until.wait()
        return fault

    monkeypatch.setattr(board, "admit", admit_later)


def test_a_claim_is_renewed_while_a_page_takes_long(
    kit: MakeKit, service: Service, board: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.add()
    heard = threading.Event()
    carry_out = service.carry_out

    def carry_out_and_tell(name: str, body: dict[str, object]) -> object:
        if name == "heartbeat":
            heard.set()
        return carry_out(name, body)

    monkeypatch.setattr(service, "carry_out", carry_out_and_tell)
    slow_page(monkeypatch, board, heard)
    assert crawl(kit(page_limit=1, heartbeat_seconds=SOON)) == Ending("page limit", 1)
    assert service.bodies("heartbeat")[0] == {"source": "boss", "keyword_id": 1, "claim_token": "secret-token"}


def test_a_claim_that_a_heartbeat_finds_lost_ends_at_the_page_boundary(
    kit: MakeKit, service: Service, board: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.add()
    service.script("heartbeat", Scripted(status=409))
    admit = board.admit

    def admit_when_lost(visit: Visit) -> Fault | None:
        for thread in threading.enumerate():
            if thread.name == "heartbeat":
                thread.join()
        return admit(visit)

    monkeypatch.setattr(board, "admit", admit_when_lost)
    assert crawl(kit(heartbeat_seconds=SOON)) == Ending("claim lost", 1)
    assert board.pages_asked() == [1]


@pytest.mark.parametrize(
    ("scripted", "kind"),
    [
        (Scripted(status=409), ClaimLost),
        (Scripted(status=404), UnknownKeyword),
        (Scripted(status=200, body={"data": {"renewed": 0, "should_stop": False}}), ClaimLost),
    ],
)
def test_a_heart_stops_when_its_claim_is_gone(
    client: KeywordClient, claim: Claim, service: Service, scripted: Scripted, kind: type[Exception]
) -> None:
    service.script("heartbeat", scripted)
    heart = Heartbeat(client, claim, SOON)
    heart.check()
    heart.run()
    with pytest.raises(kind):
        heart.check()
    assert not heart.told_to_stop


def test_a_heart_goes_on_while_the_service_is_away_and_hears_that_it_should_stop(
    client: KeywordClient, claim: Claim, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    stop = Scripted(status=200, body={"data": {"renewed": 1, "should_stop": True}})
    service.script("heartbeat", Scripted(status=401), stop, Scripted(status=409))
    heart = Heartbeat(client, claim, SOON)
    heart.run()
    assert heart.told_to_stop
    assert "no heartbeat keyword=1 city='上海' job='Python'" in caplog.text
    assert "secret-token" not in caplog.text


def test_a_heartbeat_that_found_no_service_is_repeated_soon(
    client: KeywordClient, claim: Claim, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service gives the living 5 minutes after an outage, and a heart beats each 5 minutes."""
    renewed = Scripted(status=200, body={"data": {"renewed": 1, "should_stop": False}})
    away = Scripted(status=401)
    service.script("heartbeat", away, away, renewed, Scripted(status=409))
    heart = Heartbeat(client, claim, 300)
    waits: list[float | None] = []

    class Passing(threading.Event):
        """Lets no time pass."""

        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return False

    monkeypatch.setattr(heart, "_over", Passing())
    heart.run()
    assert waits == [300, 60, 60, 300]


def test_a_heart_stops_with_its_claim(client: KeywordClient, claim: Claim, service: Service) -> None:
    with Heartbeat(client, claim, 10**6) as heart:
        pass
    heart.run()
    assert service.bodies("heartbeat") == []
