"""Runs Patroni's own client of etcd against an endpoint; prints `ok <name>` and `FAIL <name>: <why>`."""
import sys
import threading
import time

from patroni.dcs import get_dcs
from patroni.dcs.etcd3 import Etcd3

host, *login = sys.argv[1:]
settings = {"hosts": [host], "protocol": "http"}
if login:
    settings.update(username=login[0], password=login[1])
config = {
    "scope": "batman",
    "namespace": "/service/",
    "name": "node1",
    "ttl": 30,
    "retry_timeout": 10,
    "loop_wait": 2,
    "etcd3": settings,
}


def check(name, holds):
    """Reads come from a cache that follows a watch, so a question (a function) may be asked again for some seconds."""
    end = time.monotonic() + 5
    while callable(holds):
        try:
            found = holds()
        except AttributeError:
            found = False
        if found or time.monotonic() > end:
            break
        time.sleep(0.1)
    good = found if callable(holds) else holds
    print(f"ok {name}" if good else f"FAIL {name}: it does not hold", flush=True)


def open_dcs(name):
    dcs = get_dcs({**config, "name": name})
    assert isinstance(dcs, Etcd3)
    return dcs


one = open_dcs("node1")
check("the first member initializes the cluster", one.initialize(True, "4711"))
two = open_dcs("node2")
check("a second one does not", not two.initialize(True, "4712"))
check("the configuration is written", one.set_config_value('{"ttl": 30}'))
member = {"conn_url": "postgres://node1:5432/postgres", "state": "running", "role": "replica"}
check("a member reports itself under its lease", one.touch_member(member))
check("so does the second", two.touch_member({**member, "conn_url": "postgres://node2:5432/postgres"}))
check("one takes the leader's key", one.attempt_to_acquire_leader())
check("the other cannot", not two.attempt_to_acquire_leader())
cluster = two.get_cluster()
check("the other sees the leader", cluster.leader is not None and cluster.leader.name == "node1")
check("it sees both members", sorted(each.name for each in cluster.members) == ["node1", "node2"])
check("it sees the configuration", cluster.config is not None and cluster.config.data == {"ttl": 30})
check("the leader renews its lease and its position", one.update_leader(one.get_cluster(), 4096))
check("the position is read", lambda: two.get_cluster().status.last_lsn == 4096)
check("the history is written", one.set_history_value('[[1, 2, "x"]]'))
check("synchronous state is written", one.set_sync_state_value('{"leader": "node1"}'))
check("the other sees it", lambda: two.get_cluster().sync.leader == "node1")
stale = two.get_cluster().sync.version
check("it is changed by its version", two.set_sync_state_value('{"leader": "node2"}', stale))
check("an old version is refused", not one.set_sync_state_value('{"leader": "x"}', stale))
check("a failover is asked for", one.manual_failover("node1", "node2"))
check("it is read", lambda: two.get_cluster().failover.candidate == "node2")

watching = two.get_cluster()
begin = time.monotonic()
threading.Timer(0.5, lambda: one.delete_leader(one.get_cluster().leader)).start()
woken = two.watch(watching.leader.version, 10)
check("a watch wakes the other when the leader goes", woken and time.monotonic() - begin < 8)
check("the other is promoted", lambda: two.attempt_to_acquire_leader())
check("the first sees it", lambda: one.get_cluster().leader.name == "node2")

short = open_dcs("node3")
short.set_ttl(4)
short.touch_member({**member, "conn_url": "postgres://node3:5432/postgres"})
time.sleep(7)
names = [each.name for each in one.get_cluster().members]
check("a member whose lease ends goes away", "node3" not in names and "node1" in names)
check("the cluster is deleted", one.delete_cluster())
check("nothing is left", lambda: two.get_cluster().is_empty())
