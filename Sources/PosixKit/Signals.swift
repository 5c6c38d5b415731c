internal import Glibc

/// Signals, taken by one thread that waits for them.
package enum Signals {
  /// Has writes fail with EPIPE and EFBIG where else a signal would end the program: SIGPIPE, and SIGXFSZ under a limit
  /// for the size of files (setrlimit(2), RLIMIT_FSIZE). For every process of ours, at its start.
  package static func ignoreFailedWrites() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Blocks the signals that end a program, for the calling thread and all that it starts.
  package static func blockEnding() {
    var set = ending
    sigaddset(&set, handOver)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Asks a mount's process to make way for another one.
  package static let handOver = SIGUSR2

  /// Waits for a signal that ends a program, or for `handOver`.
  /// - Returns: the process that sent `handOver`; nil for another signal.
  package static func waitForEndingOrHandOver() -> Int32? {
    var set = ending
    sigaddset(&set, handOver)
    var information = siginfo_t()
    while sigwaitinfo(&set, &information) < 0 {}
    return information.si_signo == handOver ? information._sifields._kill.si_pid : nil
  }

  /// Waits for a signal that ends a program.
  /// - Returns: its number.
  @discardableResult package static func waitForEnding() -> Int32 {
    var set = ending
    while true {
      let number = sigwaitinfo(&set, nil)
      if number > 0 { return number }
    }
  }

  /// Ends the program as the signal does that `waitForEnding` took.
  package static func end(by number: Int32) {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), number)
  }

  /// Whether a signal that ends the program is pending.
  package static var isEndPending: Bool {
    var set = sigset_t()
    sigpending(&set)
    return [SIGINT, SIGTERM, SIGHUP].contains { sigismember(&set, $0) == 1 }
  }

  package static func requestEnd() { kill(getpid(), SIGTERM) }

  /// Has this process make way for the next one.
  package static func requestHandOver() { kill(getpid(), handOver) }

  private static var ending: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
    return set
  }
}
