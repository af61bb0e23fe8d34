"""A Galera cluster of MariaDB nodes on loopback, in temporary folders."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.mariadb import PrivateServer, free_port, run_sql

PROVIDERS = ("/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so")
# Whoever reads or updates on one node sees what another has committed; the service warns of any other value.
SYNC_WAIT = 7


class Node:
    """One node; it may be killed and started again, and then joins the others."""

    def __init__(self, folder: Path, provider: str, number: int) -> None:
        self._provider = provider
        self._number = number
        self._folder = folder
        folder.mkdir()
        self._group_port, self._transfer_port, self._state_port = free_port(), free_port(), free_port()
        self.address = f"127.0.0.1:{self._group_port}"
        self._server: PrivateServer | None = None

    @property
    def url(self) -> str:
        assert self._server
        return self._server.url

    def start(self, others: list[str]) -> None:
        """Join the nodes at these addresses; with none of them, begin a new cluster."""
        options = (
            "--wsrep-on=ON", f"--wsrep-provider={self._provider}", f"--wsrep-cluster-address=gcomm://{','.join(others)}",
            "--wsrep-cluster-name=jobdata", f"--wsrep-node-name=node-{self._number}", "--wsrep-node-address=127.0.0.1",
            f"--wsrep-sst-receive-address=127.0.0.1:{self._state_port}", "--wsrep-sst-method=rsync",
            f"--wsrep-provider-options=gmcast.listen_addr=tcp://{self.address};"
            f"ist.recv_addr=127.0.0.1:{self._transfer_port};gcache.size=64M",
            "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--default-storage-engine=InnoDB",
            f"--wsrep-sync-wait={SYNC_WAIT}",
        )  # fmt: skip
        if self._server is None:
            self._server = PrivateServer(self._folder, *options)
        else:
            self._server.start(*options)

    def kill(self) -> None:
        assert self._server
        self._server.kill()

    def stop(self) -> None:
        if self._server:
            self._server.stop()

    def status(self, name: str) -> str:
        rows = run_sql(self.url, f"SHOW GLOBAL STATUS LIKE '{name}'")
        return str(rows[0][1])


class Cluster:
    """The nodes of one cluster."""

    def __init__(self, folder: Path, nodes: int) -> None:
        provider = next((path for path in PROVIDERS if Path(path).exists()), None)
        if provider is None:
            raise RuntimeError("no Galera library here: install Debian's galera-4, which comes with mariadb-server")
        self.nodes = [Node(folder / f"node-{number}", provider, number) for number in range(nodes)]

    def start(self) -> None:
        for number, node in enumerate(self.nodes):
            node.start([other.address for other in self.nodes[:number]])

    def rejoin(self, node: Node) -> None:
        node.start([other.address for other in self.nodes if other is not node])


@contextmanager
def running_cluster(nodes: int = 3) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="jobdata-galera-") as folder:
        Path(folder).chmod(0o755)
        cluster = Cluster(Path(folder), nodes)
        try:
            cluster.start()
            yield cluster
        finally:
            for node in reversed(cluster.nodes):
                node.stop()
