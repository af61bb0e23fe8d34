"""Signs of life of one claim while a page takes long."""

import logging
import threading
from typing import Self

from jobs_spider.client import Claim, ClaimLost, KeywordClient, ServiceError, UnknownKeyword

log = logging.getLogger(__name__)

# A heartbeat that found no service is repeated that much sooner: after an outage the service waits only a few minutes
# for the living.
SOONER_AFTER_TROUBLE = 5


class Heartbeat:
    """Renews a claim from a thread of its own, with a connection of its own, until the claim ends."""

    def __init__(self, client: KeywordClient, claim: Claim, every_seconds: float) -> None:
        self._client = client
        self._claim = claim
        self._every = every_seconds
        self._over = threading.Event()
        self._lost: ServiceError | None = None
        self.told_to_stop = False

    def __enter__(self) -> Self:
        # Not waited for at the end: a call that hangs must not hold up the next keyword.
        threading.Thread(target=self.run, name="heartbeat", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def check(self) -> None:
        """Raises ClaimLost or UnknownKeyword when the service has said so."""
        if self._lost:
            raise self._lost

    def run(self) -> None:
        """Beat until the claim ends or is lost."""
        wait = self._every
        while not self._over.wait(wait):
            wait = self._every
            try:
                self.told_to_stop = self._client.heartbeat(self._claim) or self.told_to_stop
                log.debug("claim renewed %s", self._claim)
            except (ClaimLost, UnknownKeyword) as gone:
                self._lost = gone
                return
            except ServiceError as error:
                log.warning("no heartbeat %s: %s", self._claim, error)
                wait = self._every / SOONER_AFTER_TROUBLE
