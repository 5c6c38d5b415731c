import CLinux
import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct PowerSupplyTests {
  private func supply(_ devices: [[String: String]]) throws -> PowerSupply {
    let folder = try TemporaryDirectory()
    for (number, files) in devices.enumerated() {
      try Directories.create(folder.path("\(number)"))
      for (name, value) in files {
        try Directories.replace(folder.path("\(number)/\(name)"), with: Array("\(value)\n".utf8))
      }
    }
    return .current(in: folder.path)
  }

  private static let battery = [
    "type": "Battery", "scope": "System", "status": "Discharging", "capacity": "40",
  ]

  @Test func aMachineWithoutBatteriesRunsOnMains() throws {
    #expect(try supply([]) == .mains)
    #expect(PowerSupply.current(in: "/nonexistent") == .mains)
  }

  @Test func aDischargingBatteryTellsItsCharge() throws {
    #expect(try supply([Self.battery]) == .battery(charge: 40))
    #expect(try supply([Self.battery, ["type": "Mains", "online": "0"]]) == .battery(charge: 40))
    var second = Self.battery
    (second["capacity"], second["status"]) = ("80", "Not charging")
    #expect(try supply([Self.battery, second]) == .battery(charge: 60))
    #expect(try supply([["type": "Battery", "status": "Discharging"]]) == .battery(charge: nil))
  }

  @Test func mainsCountWhateverABatterySays() throws {
    #expect(try supply([Self.battery, ["type": "Mains", "online": "1"]]) == .mains)
    #expect(try supply([Self.battery, ["type": "USB", "online": "1"]]) == .mains)
  }

  @Test func theBatteryOfAMouseIsNotTheMachines() throws {
    var mouse = Self.battery
    mouse["scope"] = "Device"
    #expect(try supply([mouse]) == .mains)
  }
}

/// Messages as the kernel sends them: "change@/devices/…", then lines that each end with NUL.
@Suite struct PowerEventTests {
  private func receives(_ socket: Int32) -> Bool {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) > 0
  }

  @Test func eventsOfOtherDevicesDoNotWakeTheProcessUp() throws {
    let ends = try UnixSocket.pair()
    let (writer, reader) = (ends.first.rawValue, ends.second.rawValue)
    try #require(podcastfs_pass_power_events(reader) == 0)
    func send(_ path: String, _ subsystem: String) throws {
      let event = "change@\(path)\0ACTION=change\0DEVPATH=\(path)\0SUBSYSTEM=\(subsystem)\0SEQNUM=5\0"
      try #require(Glibc.send(writer, event, event.utf8.count, 0) == event.utf8.count)
    }
    try send("/devices/virtual/bdi/0:45", "bdi")
    try send("/devices/pci0000:00/0000:00:1d.0/usb1/1-1/power/wakeup/wakeup7", "wakeup")
    #expect(!receives(reader))
    // Wherever the name stands.
    for length in 0..<24 {
      let path = "/devices/\(String(repeating: "x", count: length))/power_supply/BAT0"
      try send(path, "power_supply")
      #expect(receives(reader), "\(path)")
      #expect(!receives(reader))
    }
  }
}

@Suite struct DailyHoursTests {
  @Test func hoursMayGoOverMidnight() {
    let night = DailyHours(start: 22 * 60, end: 6 * 60)
    #expect(night.contains(22 * 60) && night.contains(0) && night.contains(6 * 60 - 1))
    #expect(!night.contains(6 * 60) && !night.contains(22 * 60 - 1))
    #expect(night.text == "22:00-06:00")
    let noon = DailyHours(start: 11 * 60, end: 13 * 60)
    #expect(noon.contains(12 * 60) && !noon.contains(13 * 60) && !noon.contains(0))
  }

  @Test func theNextChangeIsNeverNow() {
    let night = DailyHours(start: 22 * 60, end: 6 * 60)
    #expect(night.secondsUntilChange(at: 0) == 6 * 3600)
    #expect(night.secondsUntilChange(at: 6 * 3600) == 16 * 3600)
    #expect(night.secondsUntilChange(at: 22 * 3600 - 1) == 1)
    #expect(night.secondsUntilChange(at: 86_399) == 6 * 3600 + 1)
  }
}
