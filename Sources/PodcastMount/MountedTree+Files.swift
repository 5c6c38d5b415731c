package import FuseKit
internal import Glibc
internal import PodcastTree
internal import PosixKit

/// open, read, write, flush, release, lseek.
extension MountedTree {
  package func open(node: UInt64, flags: Int32, caller: FuseCaller, reply: consuming FuseReply) {
    if isShut(to: caller) { return reply.fail(.EACCES) }
    let writes = flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0
    let sniffs = flags & Self.noAccessTime != 0
    if caller.isRepeated { handles.forgetAnswer(to: caller.request) }
    let answer = tree.open(
      numbers.node(node), writes: writes, truncates: flags & O_TRUNC != 0,
      for: self.caller(caller, sniffs: sniffs))
    fulfil(reply, answer) { reply, file in
      let known = self.numbers.node(node)
      let handle = self.handles.add(file, .init(known, caller, sniffs: sniffs, writes: writes))
      var options = FuseOpenOptions(handle: handle)
      options.isDirect = file.isDirect
      options.keepsCache = file.keepsCache
      options.isStream = file.isStream
      options.skipsFlush = !writes
      if file.changesAttributes { self.kernel.forgetAttributes(of: node) }
      if !reply.opened(options) { self.handles.remove(handle)?.close() }
    }
  }

  /// O_NOATIME of open(2).
  private static let noAccessTime: Int32 = 0o1_000_000

  package func read(
    handle: UInt64, offset: Int64, count: Int, options: FuseReadOptions, caller: FuseCaller,
    reply: consuming FuseReply
  ) {
    guard let file = handles.file(handle) else {
      return reopen(handle, reply) { reply in
        self.read(
          handle: handle, offset: offset, count: count, options: options, caller: caller, reply: reply)
      }
    }
    let takesParts = file.givesParts && options.isCall
    var waiting: FuseReply? = consume reply
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
      switch takesParts ? file.readPart(at: offset, into: buffer) : file.read(at: offset, into: buffer) {
      case .success(let count): waiting.take()?.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      case .failure(let errno): waiting.take()?.fail(errno)
      case nil: break
      }
    }
    guard let reply = waiting.take() else { return }
    if options.isNonblocking && file.isStream { return reply.fail(.EAGAIN) }
    park(reply, file, offset, count, options, takesParts: takesParts)
  }

  package func poll(handle: UInt64, waiter: FusePollWaiter?, reply: consuming FuseReply) {
    guard let file = handles.file(handle) else {
      return reopen(handle, reply) { reply in self.poll(handle: handle, waiter: waiter, reply: reply) }
    }
    if let waiter { file.whenPollable { waiter.notify() } }
    reply.pollable(isReadable: file.isReadable)
  }

  /// Keeps the reply until the bytes are here, or the first of them.
  private func park(
    _ reply: consuming FuseReply, _ file: any OpenFile, _ offset: Int64, _ count: Int,
    _ options: FuseReadOptions, takesParts: Bool, tries: Int = 4
  ) {
    let parked = ParkedReply(reply)
    let cancel = file.whenReadable(at: offset, count: takesParts ? min(count, 1) : count) { failure in
      guard let reply = parked.take() else { return }
      if let failure { return reply.fail(failure) }
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
      defer { buffer.deallocate() }
      switch takesParts ? file.readPart(at: offset, into: buffer) : file.read(at: offset, into: buffer) {
      case .success(let count): reply.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      case .failure(let errno): reply.fail(errno)
      // Dropped since the bytes were reported, or the cache was deleted. Another wait learns which.
      case nil where tries > 0:
        self.park(reply, file, offset, count, options, takesParts: takesParts, tries: tries - 1)
      case nil: reply.fail(.ESTALE)
      }
    }
    parked.onInterrupt(cancel)
    if !options.isCall { parked.watchSignals() }
  }

  package func write(
    handle: UInt64, offset: Int64, bytes: UnsafeRawBufferPointer, reply: consuming FuseReply
  ) {
    // What an upload had got from the process before has gone with that.
    guard let file = handles.file(handle) else {
      return reply.fail(handles.inheritedFile(handle) == nil ? .EBADF : .EIO)
    }
    switch file.write(at: offset, bytes) {
    case .success(let count): reply.written(count)
    case .failure(let errno): reply.fail(errno)
    }
  }

  package func flush(handle: UInt64, reply: consuming FuseReply) {
    guard let file = handles.file(handle) else { return flushInherited(handle, reply) }
    fulfil(reply, file.flush()) { reply, _ in reply.succeed() }
  }

  package func release(handle: UInt64, reply: consuming FuseReply) {
    handles.remove(handle)?.close()
    reply.succeed()
  }

  /// SEEK_DATA and SEEK_HOLE: the whole file is data, or cp and tar would write zeros for what is not here
  /// yet. The kernel does the other kinds itself.
  package func seek(handle: UInt64, offset: Int64, whence: Int32, reply: consuming FuseReply) {
    let (data, hole): (Int32, Int32) = (3, 4)
    guard let file = handles.file(handle) else {
      return reopen(handle, reply) { reply in
        self.seek(handle: handle, offset: offset, whence: whence, reply: reply)
      }
    }
    guard let size = file.size, whence == data || whence == hole else { return reply.fail(.EINVAL) }
    guard offset >= 0, offset < size else { return reply.fail(.ENXIO) }
    reply.position(whence == data ? offset : size)
  }
}
