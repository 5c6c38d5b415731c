import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The system lets no file grow beyond a size (`ulimit -f`, LimitFSIZE= of a service).
@Suite struct FileSizeLimitTests {
  @Test func anEpisodeThatIsTooLargeForTheLimitFailsInWordsAndNoOther() throws {
    let user = try TransferFixture()
    // In blocks of 512 bytes: 2 MB.
    let script = try user.environment.home.write(
      "transferd",
      Array("#!/bin/sh\nulimit -f 4000\nexec '\(Products.path("podcastfs-transferd"))' \"$@\"\n".utf8))
    chmod(script, 0o755)
    let client = try TransferClient(places: user.places, settings: Settings(), isMount: true, daemon: script)
    let large = user.serve(TestBody(seed: 1, size: 5_000_000), at: "/large.mp3")
    let small = user.serve(TestBody(seed: 2, size: 500_000), at: "/small.mp3")
    // A script that is just written cannot be started while another test starts a program (ETXTBSY).
    #expect(eventually { client.confirmed { $0.order(.start(large), completion: $1) } })
    #expect(client.reaches(.failed, large))
    #expect(client.status(of: large.key)?.error?.contains("ulimit -f") == true)
    let daemon = user.daemon
    #expect(client.confirmed { $0.order(.start(small), completion: $1) })
    #expect(client.reaches(.cached, small))
    #expect(daemon != nil && user.daemon == daemon)
  }
}
