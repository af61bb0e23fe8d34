"""Nasty requests over real sockets, beside those of tests/service/test_bad_input.py."""

import json
import socket
from contextlib import ExitStack

import httpx
import pytest

from tests.service_process import ServiceProcess

API = "/api/v1/keyword"
# One of each plane that holds characters, then what trips collations, cases, joiners, directions and terminals.
TEXTS = [
    "A", "\U0001f600", "\U00020000", "\U00030000", "\U000e0041x", "\U000f0000", "\U0010fffd", "\uffff", "\ufdd0",
    "ß", "SS", "ss", "é", "e\u0301", "ｶﾞ", "ガ", "İ", "i\u0307", "👩\u200d🚀", "\u202eabc", "\u200b", "ﷺ" * 80,
    "京" * 255, "\U0001f600" * 255, "'; DROP TABLE boss_keyword; --", "%_\\", "<script>alert(1)</script>", "=1+1",
    "${jndi:x}", "\\u0000", "None", "null", "0", "C++", "C#", ".NET",
]  # fmt: skip


def test_each_text_is_a_keyword_of_its_own_and_comes_back_as_it_was_sent(service: ServiceProcess) -> None:
    with httpx.Client(base_url=service.url) as client:
        for text in TEXTS:
            body = {"source": "boss", "city": text, "job": text}
            created = client.post(API, json=body)
            assert (created.status_code, created.json()["data"]["city"]) == (201, text)
            assert client.post(API, json=body).status_code == 200
            found = client.get(API, params={"source": "boss", "city": text, "job": text}).json()["data"]["items"]
            assert [item["id"] for item in found] == [created.json()["data"]["id"]]


def test_a_crawler_of_any_name_holds_its_claim_and_says_what_failed(service: ServiceProcess) -> None:
    with httpx.Client(base_url=service.url) as client:
        for text in TEXTS:
            query: dict[str, str] = {"source": "boss", "reserve": "true", "crawler_id": text[:100]}
            (claim,) = client.get(f"{API}/available", params=query).json()["data"]
            body = {"source": "boss", "keyword_id": claim["id"], "crawler_id": text[:100]}
            done = client.post(f"{API}/crawl-complete", json={**body, "status": "failed", "error_message": text})
            assert done.json()["data"]["applied"] is True
            failed = {"source": "boss", "crawler_id": text[:100], "error": text, "status": "failed"}
            (item,) = client.get(API, params=failed).json()["data"]["items"]
            assert (item["id"], item["crawler_id"], item["error_message"]) == (claim["id"], text[:100], text)


def test_of_a_field_given_twice_the_last_counts(service: ServiceProcess) -> None:
    body = '{"source": "lagou", "city": "A", "job": "x", "city": "B", "source": "qcwy"}'
    answer = httpx.post(service.url + API, content=body)
    assert (answer.status_code, answer.json()["data"]["source"], answer.json()["data"]["city"]) == (201, "qcwy", "B")


def test_too_large_a_body_is_refused_and_the_next_request_is_answered(service: ServiceProcess) -> None:
    with httpx.Client(base_url=service.url) as client:
        large = b'{"source": "boss", "city": "' + b"x" * (33 * 2**20) + b'"}'
        refused = client.post(f"{API}/mark-used", content=large)
        assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
        assert client.get(f"{API}/stats").status_code == 200


def test_a_hundred_bodies_that_never_end_keep_nobody_waiting(service: ServiceProcess) -> None:
    head = f"POST {API}/page-progress HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n" + '{"source": '
    with ExitStack() as stack:
        for _ in range(100):
            stalled = stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            stalled.sendall(head.encode())
        for _ in range(20):
            body = {"source": "boss", "crawler_id": "a"}
            assert httpx.post(f"{service.url}{API}/heartbeat", json=body).json()["data"]["renewed"] == 0


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\xff\xfe\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"/x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api/v1/keyword/heartbeat HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/keyword/heartbeat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /api/v1/keyword/stats?source=%00%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)  # fmt: skip
def test_a_broken_request_is_refused_and_the_service_lives(service: ServiceProcess, request_bytes: bytes) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(request_bytes)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert not answer or answer.split()[1].startswith(b"4")
    assert b"Traceback" not in answer
    stats = httpx.get(f"{service.url}{API}/stats", params={"source": "boss"}).json()["data"]
    assert json.dumps(stats["total"]) == "50"
