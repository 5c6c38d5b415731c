import BusKit
import PosixKit
import TestSupport
import Testing

/// Against a real dbus-daemon.
@Suite(.enabled(if: PrivateBus.isAvailable)) struct BusTests {
  private static let name = "org.example.Echo"
  private static let path = "/org/example/Echo"

  private let daemon: PrivateBus
  private let service: RunningProcess

  init() throws {
    daemon = try PrivateBus()
    service = try daemon.play(
      """
      class Echo(dbus.service.Object):
        @dbus.service.method('org.example.Echo', in_signature='v', out_signature='v')
        def Back(self, value): return value
        @dbus.service.method('org.example.Echo', in_signature='biuxtdsoa{sv}ai(sb)y', out_signature='biuxtdsoa{sv}ai(sb)y')
        def All(self, a, b, c, d, e, f, g, h, i, j, k, l): return a, b, c, d, e, f, g, h, i, j, k, l
        @dbus.service.method('org.example.Echo', in_signature='s')
        def Fail(self, text): raise dbus.DBusException(text, name='org.example.Failed')
        @dbus.service.method('org.example.Echo')
        def Sleep(self): __import__('time').sleep(60)
        @dbus.service.signal('org.example.Echo', signature='si')
        def Heard(self, text, number): pass
        @dbus.service.method('org.example.Echo', in_signature='i')
        def Emit(self, count):
          for i in range(count): self.Heard('it', i)
      name = dbus.service.BusName('org.example.Echo', bus)
      echo = Echo(name, '/org/example/Echo')
      """)
  }

  /// Runs a loop until `body` ends it, or patience does.
  private func run(_ body: (EventLoop, Bus, @escaping () -> Void) throws -> Void) throws {
    let loop = try EventLoop()
    let bus = try Bus(.at(daemon.address), loop: loop) {}
    try body(loop, bus) { loop.stop() }
    loop.schedule(at: .after(patience)) {
      Issue.record("nothing came")
      loop.stop()
    }
    loop.run()
    withExtendedLifetime((bus, service)) {}
  }

  private func answer(_ member: String, _ arguments: [BusValue], seconds: Double = 10) throws -> Bus.Answer? {
    var answer: Bus.Answer?
    try run { _, bus, end in
      bus.call(Self.name, Self.path, "org.example.Echo", member, arguments, seconds: seconds) {
        answer = $0
        end()
      }
    }
    return answer
  }

  @Test func everyTypeComesBackAsItWasSent() throws {
    let values: [BusValue] = [
      .bool(true), .int32(-5), .uint32(7), .int64(-1 << 40), .uint64(1 << 50), .double(0.5), .string("Häfen"),
      .objectPath("/a/b"), .dictionary(["a": .string("x"), "b": .uint32(1)]),
      .array("i", [.int32(1), .int32(2)]),
      .structure([.string("s"), .bool(false)]), .byte(9),
    ]
    #expect(try answer("All", values)?.get() == values)
    #expect(
      try answer("Back", [.variant(.array("s", [.string("a")]))])?.get() == [.array("s", [.string("a")])])
  }

  @Test func anErrorHasTheNameAndTheWordsOfTheService() throws {
    let answer = try #require(try answer("Fail", [.string("no such thing")]))
    #expect(throws: BusError.self) { try answer.get() }
    guard case .failure(let error) = answer else { return }
    #expect(error.name == "org.example.Failed" && error.message == "no such thing")
  }

  @Test func aServiceThatDoesNotAnswerIsWaitedForOnlySoLong() throws {
    guard case .failure(let error)? = try answer("Sleep", [], seconds: 0.2) else {
      Issue.record("it answered")
      return
    }
    #expect(error.name == "org.freedesktop.DBus.Error.NoReply" || error.message.contains("timed out"))
  }

  @Test func aNameThatNobodyHasIsAnError() throws {
    var answer: Bus.Answer?
    try run { _, bus, end in
      bus.call("org.example.Nobody", "/", "org.example.Nobody", "Do") {
        answer = $0
        end()
      }
    }
    #expect(throws: BusError.self) { try answer?.get() }
  }

  @Test func signalsComeInOrder() throws {
    var heard: [Int64] = []
    try run { _, bus, end in
      bus.match("type='signal',interface='org.example.Echo',member='Heard'") { signal in
        #expect(signal.path == Self.path && signal.values.first?.text == "it")
        heard.append(signal.values.last?.integer ?? -1)
        if heard.count == 100 { end() }
      }
      bus.call(Self.name, Self.path, "org.example.Echo", "Emit", [.int32(100)])
    }
    #expect(heard == Array(0..<100))
  }

  @Test func theEndOfTheDaemonIsHeardOnceAndCallsFail() throws {
    let loop = try EventLoop()
    var (ends, failures) = (0, 0)
    let bus = try Bus(.at(daemon.address), loop: loop) {
      ends += 1
      loop.schedule(at: .after(0.05)) { loop.stop() }
    }
    bus.call(Self.name, Self.path, "org.example.Echo", "Back", [.variant(.bool(true))]) { _ in
      bus.call(Self.name, Self.path, "org.example.Echo", "Sleep") {
        if case .failure = $0 { failures += 1 }
      }
      daemon.end()
    }
    loop.run()
    #expect(ends == 1 && failures == 1)
    bus.call(Self.name, Self.path, "org.example.Echo", "Sleep") {
      if case .failure = $0 { failures += 1 }
    }
    #expect(failures == 2)
  }

  @Test func whereNobodyListensThereIsNoConnection() throws {
    let loop = try EventLoop()
    #expect(throws: BusError.self) { try Bus(.at("unix:path=/nonexistent"), loop: loop) {} }
  }
}
