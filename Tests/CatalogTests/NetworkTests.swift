import Catalog
import Testing

/// Whether the world can be reached at all, by what the kernel says.
@Suite struct NetworkTests {
  private let head =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

  @Test func interfacesOfContainersAndPrivateNetworksDoNotLeadToTheWorld() {
    let docker = "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
    let wlan = "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
    let down = "wlan0\t00000000\t0101A8C0\t0002\t0\t0\t600\t00000000\t0\t0\t0\n"
    let tunnel = "tun0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000080\t0\t0\t0\n"
    #expect(!NetworkHealth.hasRoute(v4: ""))
    #expect(!NetworkHealth.hasRoute(v4: head + docker))
    #expect(NetworkHealth.hasRoute(v4: head + docker + wlan))
    #expect(!NetworkHealth.hasRoute(v4: head + down))
    #expect(NetworkHealth.hasRoute(v4: head + tunnel))
    #expect(!NetworkHealth.hasRoute(v4: head + "x y z"))
  }

  @Test func theSameForIPv6() {
    let zero = String(repeating: "0", count: 32)
    let lo = "\(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo\n"
    let wlan =
      "\(zero) 00 \(zero) 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003    wlan0\n"
    let local =
      "fe80\(String(repeating: "0", count: 28)) 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001    wlan0\n"
    #expect(!NetworkHealth.hasRoute(v6: lo + local))
    #expect(NetworkHealth.hasRoute(v6: lo + wlan))
  }
}
