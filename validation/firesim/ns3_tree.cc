// The tree of engine/crates/network/cluster/examples/packet_hops.rs in ns-3: 64 hosts in 16 racks under 4
// aggregation switches and a root, point-to-point links of 204.8 Gbit/s and 2 us; 32 clients send
// 1,000,000 datagrams of 1000 bytes per second each to a server across the root, which echoes them.
// Counts transmissions over links, hosts included, as packet-hops.
//
//   c++ -O3 ns3_tree.cc $(pkg-config --cflags --libs ns3-point-to-point ns3-internet-apps ns3-applications)
//   ./a.out [milliseconds]

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/nix-vector-routing-module.h>
#include <ns3/point-to-point-module.h>

#include <chrono>
#include <iostream>
#include <string>

using namespace ns3;

namespace {

constexpr int aggregation = 4;
constexpr int racks = 16;
constexpr int pairs = 2;
constexpr uint16_t port = 9;

uint64_t hops = 0;

void count(Ptr<const Packet>) { ++hops; }

Ipv4Address join(Ptr<Node> one, Ptr<Node> other, PointToPointHelper& link, Ipv4AddressHelper& addresses) {
  NetDeviceContainer devices = link.Install(one, other);
  for (uint32_t end = 0; end < 2; ++end) {
    devices.Get(end)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&count));
  }
  Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
  addresses.NewNetwork();
  return interfaces.GetAddress(1);
}

}  // namespace

int main(int argc, char** argv) {
  const double milliseconds = argc > 1 ? std::stod(argv[1]) : 2;
  NodeContainer root(1), spines(aggregation), tors(racks), clients(racks * pairs), servers(racks * pairs);
  InternetStackHelper stack;
  Ipv4NixVectorHelper routing;
  stack.SetRoutingHelper(routing);
  for (NodeContainer* nodes : {&root, &spines, &tors, &clients, &servers}) stack.Install(*nodes);

  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue("204.8Gbps"));
  link.SetChannelAttribute("Delay", StringValue("2us"));
  link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("512kB"));
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
  std::vector<Ipv4Address> server_addresses;
  for (int spine = 0; spine < aggregation; ++spine) join(root.Get(0), spines.Get(spine), link, addresses);
  for (int rack = 0; rack < racks; ++rack) {
    join(spines.Get(rack / (racks / aggregation)), tors.Get(rack), link, addresses);
    for (int pair = rack * pairs; pair < (rack + 1) * pairs; ++pair) {
      join(tors.Get(rack), clients.Get(pair), link, addresses);
      server_addresses.push_back(join(tors.Get(rack), servers.Get(pair), link, addresses));
    }
  }

  UdpEchoServerHelper echo(port);
  echo.Install(servers).Start(Seconds(0));
  for (int pair = 0; pair < racks * pairs; ++pair) {
    const int partner = (pair + racks / aggregation * pairs) % (racks * pairs);
    UdpEchoClientHelper client(server_addresses[partner], port);
    client.SetAttribute("MaxPackets", UintegerValue(1u << 31));
    client.SetAttribute("Interval", TimeValue(MicroSeconds(1)));
    client.SetAttribute("PacketSize", UintegerValue(1000));
    client.Install(clients.Get(pair)).Start(NanoSeconds(31 * pair));
  }

  Simulator::Stop(MicroSeconds(100));
  Simulator::Run();
  const uint64_t before = hops;
  Simulator::Stop(MicroSeconds(1000 * milliseconds));
  const auto started = std::chrono::steady_clock::now();
  Simulator::Run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  std::cout << hops - before << " packet-hops in " << seconds.count()
            << " s: " << (hops - before) / seconds.count() / 1e6 << " million per second\n";
  Simulator::Destroy();
}
