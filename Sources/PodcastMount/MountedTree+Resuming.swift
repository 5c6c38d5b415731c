internal import FuseKit
internal import PodcastTree
internal import PosixKit

/// Takes a mount over from a process that has gone: the kernel's handles and numbers stay valid.
extension MountedTree {
  /// Opens the files again that the process before had open, once requests are served: their readers count as readers
  /// though they may not read now. The kernel's caches expire within a second.
  package func resume() {
    for handle in handles.inheritedFiles {
      reopen(handle).run(Cancellation()) { _ in }
    }
    emitter.resume()
  }

  func reopen(
    _ handle: UInt64, _ reply: consuming FuseReply,
    _ again: @escaping @Sendable (consuming FuseReply) -> Void
  ) {
    if handles.inherited(handle) == nil {
      // Another request may have opened it again just now.
      return handles.file(handle) == nil ? reply.fail(.EBADF) : again(reply)
    }
    fulfil(reply, reopen(handle)) { reply, _ in again(reply) }
  }

  /// Fails where it has gone, or was an upload.
  private func reopen(_ handle: UInt64) -> Answer<Void> {
    guard let opening = handles.inherited(handle) else { return .value(()) }
    if opening.writes { return .failure(.EIO) }
    return tree.open(opening.node, writes: false, for: opening.caller).map { file in
      if !self.handles.restore(handle, file) { file.close() }
    }.recover { .failure($0 == .ENOENT ? .EIO : $0) }
  }
}
