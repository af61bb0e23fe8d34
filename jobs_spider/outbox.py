"""What the service has yet to hear from one worker, in order; on the disk too, so that no crash loses it."""

import logging
import os
from collections import deque
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock, Timeout
from pydantic import ValidationError

from jobs_spider.client import KeyRefused, KeywordClient, Owed, ServiceError, ServiceUnreachable

log = logging.getLogger(__name__)

MOST_SPIDERS = 1000


class NameTaken(Exception):
    """Another running spider on this machine has the same stable name."""


class Outbox:
    """Calls that are made in the order in which they were put in.

    Each is written to the spool file before it is made and taken out afterwards. The file holds claim tokens, so only
    its owner may read it; it is there only as long as something is owed.
    """

    def __init__(self, path: Path | None, lock: FileLock | None = None) -> None:
        self._path = path
        # Held as long as this worker lives; a crash lets go of it.
        self._lock = lock
        self._owed = deque(_read(path) if path else [])

    @classmethod
    def open(cls, folder: Path, source: str, stable_id: str | None) -> "Outbox":
        """The outbox of a stable name, or the first one that no running spider uses: what a crash left in it goes out.

        Raises NameTaken.
        """
        names = [stable_id] if stable_id else [str(number) for number in range(1, MOST_SPIDERS)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                stem = f"owed-{source}-{quote(name, safe='')}"
                lock = FileLock(folder / f"{stem}.lock", blocking=False, thread_local=False)
                try:
                    lock.acquire()
                except Timeout:
                    continue
                return cls(folder / f"{stem}.jsonl", lock)
        except OSError as error:
            log.warning("reports are kept in memory only, a crash would lose them: %s", error)
            return cls(None)
        raise NameTaken(f"{stable_id or 'every name'} is in use by another running spider")

    def close(self) -> None:
        """Let others use the name."""
        if self._lock:
            self._lock.release()

    def __len__(self) -> int:
        return len(self._owed)

    def put(self, owed: Owed) -> None:
        self._owed.append(owed)
        self._save()

    def first(self) -> Owed | None:
        return self._owed[0] if self._owed else None

    def drop_first(self) -> None:
        self._owed.popleft()
        self._save()

    def clear(self) -> None:
        self._owed.clear()
        self._save()

    def deliver(self, client: KeywordClient) -> None:
        """Make the calls of earlier claims. Raises when the service is away or does not accept us."""
        while owed := self.first():
            try:
                client.deliver(owed)
            except (ServiceUnreachable, KeyRefused):
                raise
            except ServiceError as error:
                # Somebody else has the keyword by now: what we knew of it counts no more.
                log.warning("owed report dropped %s: %s", owed, error)
            else:
                log.info("owed report delivered %s", owed)
            self.drop_first()

    def _save(self) -> None:
        if self._path is None:
            return
        try:
            if self._owed:
                _write(self._path, "".join(owed.model_dump_json() + "\n" for owed in self._owed))
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("reports are kept in memory only, a crash would lose them: %s", error)


def _write(path: Path, text: str) -> None:
    """All or nothing: a crash in the middle leaves the file as it was."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _read(path: Path) -> list[Owed]:
    try:
        text = path.read_text(encoding="utf-8")
        return [Owed.model_validate_json(line) for line in text.splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        # Told by its kind alone: the text may hold a token.
        log.warning("owed reports of an earlier life cannot be read: %s (%s)", path, type(error).__name__)
        return []
