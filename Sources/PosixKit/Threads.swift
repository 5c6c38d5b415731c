internal import CLinux
internal import Glibc

/// Threads of our own: the cooperative pool has as many threads as cores, and blocking calls starve it.
package enum PosixThread {
  private final class Body {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a detached thread that the program cannot do without: for its start. Where the system gives none, also
  /// half a second later (`ulimit -u`, the limit of a control group), the program ends with one line that says so.
  /// - Parameter name: at most 15 bytes, shown by `ps -T`.
  package static func start(
    _ name: String, stackSize: Int = 512 * 1024, _ run: @escaping @Sendable () -> Void
  ) {
    for _ in 0..<10 {
      if attempt(name, stackSize: stackSize, run) { return }
      usleep(50_000)
    }
    let line = "\(ProgramArguments.name): cannot start a thread: the system gives no more (ulimit -u)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(1)
  }

  /// Starts a detached thread, if the system has room for one. The caller must be able to go on without it.
  /// - Returns: whether it runs.
  package static func attempt(
    _ name: String, stackSize: Int = 512 * 1024, _ run: @escaping @Sendable () -> Void
  ) -> Bool {
    let argument = Unmanaged.passRetained(Body(name: name, run: run)).toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    let error = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        pthread_setname_np(pthread_self(), String(body.name.prefix(15)))
        body.run()
        return nil
      }, argument)
    if error != 0 { Unmanaged<Body>.fromOpaque(argument).release() }
    return error == 0
  }

  /// Leaves the calling thread no descriptor but `descriptor` (-1: none). For a thread that may wait in the kernel for this
  /// program's next process: when the program is killed, its other descriptors and locks go though that thread still waits.
  package static func leaveDescriptors(but descriptor: Int32 = -1) {
    _ = podcastfs_leave_descriptors(descriptor)
  }

  /// Runs what waits in the kernel for something that this program itself may have to answer: a lock of its own mount.
  package static func whileWaitingForItself<R>(_ body: () throws -> R) rethrows -> R {
    podcastfs_count_waiting(1)
    defer { podcastfs_count_waiting(-1) }
    return try body()
  }

  package struct Identity: Hashable, Sendable {
    private let thread: pthread_t

    package static var current: Identity { Identity(thread: pthread_self()) }

    /// Interrupts the call that it waits in (EINTR), after `allowWaking`.
    package func wake() { pthread_kill(thread, SIGUSR1) }
  }

  /// Takes SIGUSR1 for `Identity.wake`: it does nothing else from here on.
  package static func allowWaking() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigaction(SIGUSR1, &action, nil)
  }

  package static var currentID: Int32 { gettid() }
}

/// Runs blocks one after the other, in order, and others when their time has come; with several threads, some at once.
///
/// A thread starts when there is something to run, and ends after `idleTime` without. Where the system gives no thread, the
/// blocks wait for the next call that adds one. A permanent queue has its threads from the start to the end.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    /// From `first` on they are still to run: taking one moves none of the others.
    var blocks: [(@Sendable () -> Void)?] = []
    var first = 0
    var timed = TimerQueue<Callback<Void>>()
    var isStopped = false
    /// All threads, and those that wait for a block.
    var threads = 0
    var idle = 0

    mutating func next(now: MonotonicTime) -> (@Sendable () -> Void)? {
      if let due = timed.takeDue(now) { return { due() } }
      guard first < blocks.count else { return nil }
      defer {
        blocks[first] = nil
        first += 1
        if first == blocks.count {
          blocks.removeAll(keepingCapacity: first <= 64)
          first = 0
        }
      }
      return blocks[first]
    }
  }
  private enum Step {
    case run(@Sendable () -> Void)
    /// A time that is earlier than the one that is waited for has been set meanwhile.
    case waitAnew
    case end
  }
  private let monitor = Monitor(State())
  private let name: String
  private let limit: Int
  private let stackSize: Int
  private let isPermanent: Bool
  private let prepare: @Sendable () -> Void
  /// Seconds.
  private static let idleTime = 10.0

  /// - Parameters:
  ///   - threads: at most.
  ///   - courtesy: by how much its threads' nice(2) value is raised.
  ///   - prepare: what each thread does first.
  package init(
    name: String, threads: Int = 1, stackSize: Int = 1024 * 1024, courtesy: Int32 = 0,
    isPermanent: Bool = false, prepare: @escaping @Sendable () -> Void = {}
  ) {
    (self.name, limit, self.stackSize, self.isPermanent) = (name, threads, stackSize, isPermanent)
    self.prepare = {
      if courtesy > 0 { ResourceLimits.giveWay(by: courtesy) }
      prepare()
    }
    guard isPermanent else { return }
    monitor.withLock { $0.threads = threads }
    for _ in 0..<threads { PosixThread.start(name, stackSize: stackSize, loop) }
  }

  /// What a thread does. It keeps no reference to the queue.
  private var loop: @Sendable () -> Void {
    { [monitor, prepare, isPermanent] in
      prepare()
      while let block = Self.take(monitor, isPermanent: isPermanent) { block() }
    }
  }

  /// What is to be run next, once there is something; nil where the thread is to end.
  private static func take(_ monitor: Monitor<State>, isPermanent: Bool) -> (@Sendable () -> Void)? {
    let end = isPermanent ? .distantFuture : MonotonicTime.after(idleTime)
    monitor.withLock { $0.idle += 1 }
    while true {
      let due = monitor.withLock { $0.timed.earliest }
      let until = end <= .now ? due : min(due, end)
      let step = monitor.wait(until: until) { state -> Step? in
        if let block = state.next(now: .now) {
          state.idle -= 1
          return .run(block)
        }
        // One thread stays for what waits for its time.
        if state.isStopped || end <= .now && (state.timed.count == 0 || state.idle > 1) {
          state.idle -= 1
          state.threads -= 1
          return .end
        }
        return state.timed.earliest < until ? .waitAnew : nil
      }
      switch step {
      case .run(let block)?: return block
      case .end?: return nil
      case .waitAnew?, nil: continue
      }
    }
  }

  /// Adds a block; ignored after `stop`.
  package func async(_ block: @escaping @Sendable () -> Void) { add { $0.blocks.append(block) } }

  /// Runs a block `seconds` from now, before what waits then; ignored after `stop`.
  package func async(after seconds: Double, _ block: @escaping @Sendable () -> Void) {
    add { $0.timed.add(Callback(block), at: .after(seconds)) }
  }

  private func add(_ change: (inout State) -> Void) {
    let isThreadNeeded = monitor.withLockNotifying { state in
      if state.isStopped { return false }
      change(&state)
      let waiting = max(state.blocks.count - state.first, 1)
      guard state.threads < limit, state.idle < waiting else { return false }
      state.threads += 1
      return true
    }
    if isThreadNeeded, !PosixThread.attempt(name, stackSize: stackSize, loop) {
      monitor.withLock { $0.threads -= 1 }
    }
  }

  /// Ends the threads when the blocks that are already there have run; what waits for its time is dropped.
  package func stop() {
    monitor.withLockNotifying { state in
      state.isStopped = true
      state.timed.removeAll()
    }
  }
}
