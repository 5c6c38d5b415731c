import PosixKit
import Testing

@Suite struct WakeTimerTests {
  /// CLOCK_BOOTTIME (7, clock_gettime(2)): what is due while the machine sleeps is due at once when it wakes.
  @Test func itsTimePassesWhileTheMachineSleeps() throws {
    let timer = try WakeTimer()
    timer.set(after: 3600)
    let info = String(
      decoding: try Directories.read("/proc/self/fdinfo/\(timer.descriptor)"), as: UTF8.self)
    #expect(info.split(separator: "\n").contains("clockid: 7"), "\(info)")
  }
}
