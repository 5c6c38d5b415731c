import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What is no regular file in the place of the store of downloads holds nobody up.
@Suite struct StrangerStoreTests {
  @Test(arguments: ["", "-wal"]) func isNamed(_ suffix: String) throws {
    let user = try TransferFixture()
    try Directories.createPrivate(user.places.state)
    let path = user.places.state + "/transfers.sqlite" + suffix
    try retrying("make", path) { mkfifo(path, 0o600) }
    let client = try user.client()
    let failure = try #require(client.openFailure(user.serve(TestBody(seed: 53, size: 300_000))))
    #expect(failure.message.hasSuffix("\(path) is no regular file: move it away"), "\(failure)")
  }
}
