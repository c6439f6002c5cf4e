"""Topologies: names, shapes, pictures, and what is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from cluster_shapes import rack

from rackwright import Cluster, Ethernet, Server, Switch, TopologyError, Traffic
from rackwright.cluster import Constant, Poisson, clos, fat_tree, partner_rack, tree
from rackwright.cluster.drawing import svg


def with_servers(levels: list[list[Switch]], servers: int) -> Cluster:
    for tor in levels[-1]:
        tor.add_downlinks([Traffic(service=Constant(1)) for _ in range(servers)])
    return Cluster(levels[0][0])


@pytest.mark.parametrize(
    ("levels", "switches", "links"),
    [(tree([4, 8]), 37, 36 + 64), (clos(3, 4), 7, 12 + 8), (fat_tree(4), 20, 32 + 16)],
    ids=["tree", "clos", "fat tree"],
)
def test_ready_made_shapes_have_their_switches_and_links(
    levels: list[list[Switch]], switches: int, links: int
) -> None:
    topology = with_servers(levels, 2).topology
    assert len(topology.switches()) == switches
    assert len(topology.description["links"]) == links


@pytest.mark.parametrize(
    ("distance", "partners"),
    [("rack", [0, 1, 2, 3, 4, 5]), ("aggregation", [1, 2, 0, 4, 5, 3]), ("root", [3, 4, 5, 0, 1, 2])],
)
def test_partners_are_at_a_distance(distance: str, partners: list[int]) -> None:
    assert [partner_rack(distance, rack, (2, 3)) for rack in range(6)] == partners


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(TopologyError, match="rack, aggregation, root, not street"):
        partner_rack("street", 0, (4, 8))


def test_a_topology_prints_as_a_tree() -> None:
    link = "  2 us"
    assert str(rack()) == "\n".join(
        ["tor", *(f"  {name}{link}" for name in ("server0", "client0", "server1", "client1"))]
    )


def test_several_roots_stand_side_by_side() -> None:
    """However they are reached, core switches are the top and ToRs are beside ToRs."""
    cores, tors = [Switch(f"core{i}") for i in range(2)], [Switch(f"tor{i}") for i in range(2)]
    for core in cores:
        core.add_downlinks(tors, Ethernet(gbps=100, latency_us=0.5))
    for tor in tors:
        tor.add_downlinks([Traffic(f"of-{tor.name}", service=Constant(1))])
    topology = Cluster(cores[0]).topology
    assert [sorted(level) for level in topology.levels()] == [
        ["core0", "core1"],
        ["tor0", "tor1"],
        ["of-tor0", "of-tor1"],
    ]
    lines = str(topology).splitlines()
    assert lines[0] == "core0"
    assert lines[1:3] == ["  tor0  0.5 us, 100 Gbit/s", "    of-tor0  2 us"]
    assert lines[lines.index("core1") + 1] == "  tor0  0.5 us, 100 Gbit/s (above)"
    heights = {
        text.text: text.get("y")
        for text in ElementTree.fromstring(svg(topology)).iter("{http://www.w3.org/2000/svg}text")
    }
    assert heights["core0"] == heights["core1"] != heights["tor0"] == heights["tor1"]
    assert heights["0.5 us"] != heights["100 Gbit/s"]


def test_a_ring_has_levels_too() -> None:
    ring = [Switch(f"s{i}") for i in range(3)]
    for one, other in zip(ring, [*ring[1:], ring[0]], strict=True):
        one.connect(other)
    ring[0].add_downlinks([Traffic("a", service=Constant(1))])
    assert [len(level) for level in Cluster(ring[0]).topology.levels()] == [1, 2, 1]


def test_names_are_counted_around_given_ones() -> None:
    switch = Switch()
    switch.add_downlinks([Traffic("server0", service=Constant(1)), Traffic(service=Constant(1))])
    names = [node["name"] for node in Cluster(switch).topology.description["nodes"]]
    assert names == ["switch0", "server0", "server1"]


def test_equal_topologies_are_equal() -> None:
    assert rack().topology == rack().topology
    assert rack().topology != rack(pairs=3).topology


def test_ports_are_numbered_in_the_order_of_links() -> None:
    topology = with_servers(tree([2]), 1).topology
    assert topology.neighbours()["tor1"] == ["root", "server1"]


def test_a_picture_shows_every_node_once() -> None:
    topology = with_servers(fat_tree(4), 2).topology
    picture = ElementTree.fromstring(svg(topology))
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert sorted(filter(None, titles)) == sorted(topology.neighbours())


def test_a_picture_of_a_run_shows_what_went_over_each_link() -> None:
    tor = Switch("tor0")
    server = Traffic("server", service=Constant(1), cores=4)
    client = Traffic("client", sends=Poisson(rate=100_000), to=server, request_bytes=1000, answer_bytes=100)
    tor.add_downlinks([server, client])
    cluster = Cluster(tor, seed=1)
    result = cluster.run(until_ms=10)
    (sent,) = result.ports[result.ports["name"] == "client.port0"]["sent_bytes"]
    expected = 8 * int(sent) / 0.01 / 1e6
    picture = ElementTree.fromstring(svg(cluster.topology, result))
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{expected:.3g} Mbit/s" in texts
    assert "2 us" not in texts


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TopologyError, match=r"`tor0` cannot be linked to a str: .*`Traffic`"):
        Switch("tor0").add_downlinks(["server0"])  # type: ignore[list-item]


def test_a_server_without_a_program_is_refused() -> None:
    tor = Switch("tor0")
    tor.add_downlinks([Server("functional", name="idle")])
    with pytest.raises(TopologyError, match=r"`idle` needs a program"):
        Cluster(tor)


def linked(*links: tuple[str, str], **settings: Ethernet) -> Cluster:
    """Switches s…, servers a…, linked as named; `settings` gives a link by its second end."""
    nodes: dict[str, Switch | Traffic] = {}

    def node(name: str) -> Switch | Traffic:
        if name not in nodes:
            nodes[name] = Switch(name) if name.startswith("s") else Traffic(name, service=Constant(1))
        return nodes[name]

    for one, other in links:
        node(one).connect(node(other), settings.get(other))
    return Cluster(node(links[0][0]))


def test_impossible_links_name_their_ends() -> None:
    with pytest.raises(TopologyError, match=r"link of `s` and `a`: .*at most 204800000000"):
        linked(("s", "a"), a=Ethernet(gbps=400))
    with pytest.raises(TopologyError, match="link of `s` and `a`: a latency of 0 us"):
        linked(("s", "a"), a=Ethernet(latency_us=0))
    with pytest.raises(TopologyError, match="server `a` has one port and 2 links"):
        linked(("s", "a"), ("s", "a"))
    with pytest.raises(TopologyError, match="link of `s` and `s`: a node is not linked to itself"):
        linked(("s", "s"))


def test_a_target_that_nothing_joins_is_refused() -> None:
    switch = Switch("s")
    switch.add_downlinks([Traffic("a", sends=Poisson(1), to=Traffic("far", service=Constant(1)))])
    with pytest.raises(TopologyError, match="`a` sends to `far`, but no path connects them"):
        Cluster(switch)


def test_parts_without_a_link_are_refused() -> None:
    one, other = Switch("one"), Switch("other")
    one.add_downlinks([Traffic(service=Constant(1))])
    other.add_downlinks([Traffic(service=Constant(1))])
    with pytest.raises(TopologyError, match="nothing joins `one` and `other`"):
        Cluster(one, other)


def test_clashing_addresses_are_refused() -> None:
    switch = Switch()
    servers = [Traffic(name, service=Constant(1), mac="00:12:6D:00:00:09") for name in ("a", "b")]
    switch.add_downlinks(servers)
    with pytest.raises(TopologyError, match="`a` and `b` both have the address 00:12:6D:00:00:09"):
        Cluster(switch)


def test_two_nodes_of_one_name_are_refused() -> None:
    switch = Switch()
    switch.add_downlinks([Traffic("a", service=Constant(1)), Traffic("a", service=Constant(1))])
    with pytest.raises(TopologyError, match="two nodes are called `a`"):
        Cluster(switch)
