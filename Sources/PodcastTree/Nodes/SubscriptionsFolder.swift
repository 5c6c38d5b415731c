internal import Catalog
internal import PodcastModel
internal import PosixKit

/// `Subscriptions/`: the podcasts that are followed, the list of them, and files that are being copied there.
struct SubscriptionsFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .subscriptions }
  static let listName = "subscriptions.opml"

  func load() throws { try tree.loadSubscriptions() }

  /// Fails with EEXIST where a name is taken.
  func isFree(_ name: String) -> Answer<Void> {
    listing(for: .owner(tree.owner)).then { listing in
      listing[name] == nil && UniqueNames.key(name) != Self.listName ? .value(()) : .failure(.EEXIST)
    }
  }

  func create(_ name: String) -> Answer<CreatedFile> {
    if let errno = tree.refusal(ofName: name) { return .failure(errno) }
    return isFree(name).then { tree.createUpload(name) }
  }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    target.identity.kind == .upload ? tree.removeUpload(target.identity) : .failure(.EPERM)
  }

  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> {
    let row = target.identity.row
    return tree.commit { try tree.catalog.unsubscribe(row) }
  }

  /// Renames the subscription, or a file that was copied here under a temporary name, as file managers do.
  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void> {
    guard parent == .subscriptions else { return .failure(.EPERM) }
    let row = target.identity.row
    if target.identity.kind == .upload {
      if let errno = tree.refusal(ofName: newName) { return .failure(errno) }
      return isFree(newName).then { tree.renameUpload(target.identity, to: newName) }
    }
    guard target.identity.kind == .subscription else { return .failure(.EPERM) }
    if let errno = tree.refusal(ofSubscription: newName) { return .failure(errno) }
    return isFree(newName).then {
      tree.commit { try tree.catalog.rename(subscription: row, to: newName) }
    }
  }
}
