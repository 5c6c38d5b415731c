internal import Glibc
internal import PosixKit

/// What a command says when Ctrl-C ends it.
enum Interruption {
  /// From here on SIGINT writes `words` to standard error before it ends the program as it does all others.
  static func say(_ words: String) {
    var interrupt = sigset_t()
    sigemptyset(&interrupt)
    sigaddset(&interrupt, SIGINT)
    pthread_sigmask(SIG_BLOCK, &interrupt, nil)
    let isWaiting = PosixThread.attempt("interrupt", stackSize: 128 * 1024) {
      var awaited = sigset_t()
      sigemptyset(&awaited)
      sigaddset(&awaited, SIGINT)
      var number: Int32 = 0
      while sigwait(&awaited, &number) != 0 {}
      StandardStreams.complain(words)
      signal(SIGINT, SIG_DFL)
      pthread_sigmask(SIG_UNBLOCK, &awaited, nil)
      raise(SIGINT)
    }
    if !isWaiting { pthread_sigmask(SIG_UNBLOCK, &interrupt, nil) }
  }
}
