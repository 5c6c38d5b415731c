internal import Glibc

/// Signals, taken by one thread that waits for them.
package enum Signals {
  /// Blocks the signals that end a program, for the calling thread and all that it starts; ignores SIGPIPE.
  package static func blockEnding() {
    signal(SIGPIPE, SIG_IGN)
    var set = ending
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of them; its number.
  package static func waitForEnding() -> Int32 {
    var set = ending
    var number: Int32 = 0
    while sigwait(&set, &number) != 0 {}
    return number
  }

  /// Makes `waitForEnding` return.
  package static func requestEnd() { kill(getpid(), SIGTERM) }

  /// SIGINT, SIGTERM and SIGHUP.
  private static var ending: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
    return set
  }
}
