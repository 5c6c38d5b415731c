package import FuseKit
internal import Glibc
internal import PodcastTree
internal import PosixKit

extension MountedTree {
  package func open(_ call: FuseCall, flags: Int32, _ reply: consuming FuseReply) {
    if isShut(to: call) { return reply.fail(.EACCES) }
    let (writes, truncates) = (flags & O_ACCMODE != O_RDONLY, flags & O_TRUNC != 0)
    let opening = HandleTable.Opening(
      numbers.node(call.node), caller(call, sniffs: flags & Self.noAccessTime != 0),
      writes: writes || truncates)
    let answer = tree.open(opening.node, writes: opening.writes, truncates: truncates, for: opening.caller)
    fulfil(reply, answer) { reply, file in
      let handle = self.handles.add(file, opening)
      let options = FuseOpenOptions(
        handle: handle, isDirect: file.isDirect, keepsCache: file.keepsCache, isStream: file.isStream,
        skipsFlush: !opening.writes)
      if file.changesAttributes { self.kernel.forgetAttributes(of: call.node) }
      if !reply.opened(options) { self.handles.remove(handle)?.close() }
    }
  }

  private static let noAccessTime: Int32 = 0o1_000_000

  package func read(
    _ call: FuseCall, at offset: Int64, count: Int, _ options: FuseReadOptions, _ reply: consuming FuseReply
  ) {
    guard let file = handles.file(call.handle) else {
      return reopen(call.handle, reply) { reply in self.read(call, at: offset, count: count, options, reply) }
    }
    let isPartial = file.givesParts && options.isCall
    guard let reply = answer(reply, file, offset, count, isPartial: isPartial) else { return }
    if options.isNonblocking && file.isStream { return reply.fail(.EAGAIN) }
    park(reply, file, offset, count, options, isPartial: isPartial)
  }

  /// Answers with bytes that are here.
  /// - Parameter isPartial: whether the cached part of what is asked for will do.
  /// - Returns: the reply where the reader has to wait.
  private func answer(
    _ reply: consuming FuseReply, _ file: any OpenFile, _ offset: Int64, _ count: Int, isPartial: Bool
  ) -> FuseReply? {
    var waiting: FuseReply? = consume reply
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
      switch isPartial ? file.readPart(at: offset, into: buffer) : file.read(at: offset, into: buffer) {
      case .success(let count): waiting.take()?.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      case .failure(let errno): waiting.take()?.fail(errno)
      case nil: break
      }
    }
    return waiting.take()
  }

  private func park(
    _ reply: consuming FuseReply, _ file: any OpenFile, _ offset: Int64, _ count: Int,
    _ options: FuseReadOptions, isPartial: Bool, tries: Int = 4
  ) {
    let available = file.whenReadable(at: offset, count: isPartial ? min(count, 1) : count)
    fulfil(reply, available, isCall: options.isCall) { reply, _ in
      guard let reply = self.answer(reply, file, offset, count, isPartial: isPartial) else { return }
      // Dropped since the bytes were reported, or the cache was deleted. Another wait learns which.
      if tries == 0 { return reply.fail(.ESTALE) }
      self.park(reply, file, offset, count, options, isPartial: isPartial, tries: tries - 1)
    } failing: { reply, errno in
      // What is here before the bytes that do not come is read all the same, and the next read fails. The kernel would
      // show zeros behind a short answer to a read of its own.
      if errno != .EIO || !options.isCall { return reply.fail(errno) }
      self.answer(reply, file, offset, count, isPartial: true)?.fail(errno)
    }
  }

  package func poll(_ call: FuseCall, _ waiter: FusePollWaiter?, _ reply: consuming FuseReply) {
    reply.polled(isReady: handles.file(call.handle)?.isReady { waiter?.wake() } ?? true)
  }

  package func write(
    _ call: FuseCall, at offset: Int64, _ bytes: UnsafeRawBufferPointer, _ reply: consuming FuseReply
  ) {
    guard let file = handles.file(call.handle) else { return failUpload(call.handle, reply) }
    switch file.write(at: offset, bytes) {
    case .success(let count): reply.written(count)
    case .failure(let errno): reply.fail(errno)
    }
  }

  package func flush(_ call: FuseCall, _ reply: consuming FuseReply) {
    guard let file = handles.file(call.handle) else { return failUpload(call.handle, reply) }
    fulfil(reply, file.flush()) { reply, _ in reply.succeed() }
  }

  /// Bytes of an upload that the process before had are lost. A file that was read has nothing to be flushed.
  private func failUpload(_ handle: UInt64, _ reply: consuming FuseReply) {
    guard let opening = handles.inherited(handle) else { return reply.fail(.EBADF) }
    if opening.writes { reply.fail(.EIO) } else { reply.succeed() }
  }

  package func release(_ call: FuseCall, _ reply: consuming FuseReply) {
    handles.remove(call.handle)?.close()
    reply.succeed()
  }

  /// SEEK_DATA and SEEK_HOLE: the whole file is data, or cp and tar would write zeros for what is not here
  /// yet. The kernel does the other kinds itself.
  package func seek(_ call: FuseCall, to offset: Int64, whence: Int32, _ reply: consuming FuseReply) {
    let (data, hole): (Int32, Int32) = (3, 4)
    guard let file = handles.file(call.handle) else {
      return reopen(call.handle, reply) { reply in self.seek(call, to: offset, whence: whence, reply) }
    }
    guard let size = file.size, whence == data || whence == hole else { return reply.fail(.EINVAL) }
    guard offset >= 0, offset < size else { return reply.fail(.ENXIO) }
    reply.position(whence == data ? offset : size)
  }
}
