import Configuration
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol
import TransferStore

/// What is forgotten is on no disk when that is confirmed, however the daemon ends then.
@Suite struct ForgottenTests {
  let user: TransferFixture
  private let password = "s3cr3t-of-a-paid-feed"

  init() throws { user = try TransferFixture() }

  private func secretRequest(_ body: TestBody, at path: String) -> TransferRequest {
    var request = user.serve(body, at: path)
    request.url = request.url.replacing("://", with: "://me:\(password)@")
    return request
  }

  /// Files that have the password in them.
  private func traces() -> [String] {
    let places = user.places
    return [places.state, places.cache, places.runtime].flatMap { Self.files(in: $0) }.filter { file in
      let bytes = (try? Directories.readRegular(file, limit: 64 << 20)) ?? []
      return bytes.firstRange(of: Array(password.utf8)) != nil
    }
  }

  private static func files(in directory: String) -> [String] {
    ((try? Directories.names(in: directory)) ?? []).flatMap { name -> [String] in
      let path = directory + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { return [] }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: return files(in: path)
      case S_IFREG: return [path]
      default: return []
      }
    }
  }

  private func forget(_ requests: [TransferRequest], _ client: TransferClient) {
    for request in requests { #expect(client.confirmed { $0.order(.forget(request.key), completion: $1) }) }
  }

  @Test(arguments: [SIGTERM, SIGKILL]) func noTraceIsLeftOfWhatIsForgotten(_ number: Int32) throws {
    let client = try user.client()
    let body = TestBody(seed: 5, size: 300_000)
    let requests = (0..<40).map { secretRequest(body, at: "/\($0).mp3") }
    for request in requests { #expect(client.confirmed { $0.order(.start(request), completion: $1) }) }
    for request in requests { #expect(client.reaches(.cached, request)) }
    #expect(client.confirmed { $0.order(.setKept(requests[0], true), completion: $1) })
    #expect(!traces().isEmpty)
    forget(requests, client)
    #expect(traces() == [])
    client.stop()
    let daemon = try #require(user.daemon)
    kill(daemon, number)
    #expect(eventually { !user.isRunning(daemon) })
    #expect(traces() == [])
    let records = try TransferStore(reading: user.places.state).records()
    #expect(records.isEmpty || number == SIGKILL, "\(records)")
  }

  /// Whoever has died meanwhile.
  @Test(arguments: [nil, SIGTERM, SIGKILL])
  func whatIsOpenLeavesNoTraceWhenItIsClosed(_ number: Int32?) throws {
    let client = try user.client()
    let request = secretRequest(TestBody(seed: 6, size: 3_000_000), at: "/open.mp3")
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 100_000)
    forget([request], client)
    if let number {
      let daemon = try #require(user.daemon)
      kill(daemon, number)
      #expect(eventually { !user.isRunning(daemon) })
    }
    // The next daemon is told that it is open.
    #expect(client.confirmed { $0.order(.start(user.serve(TestBody(seed: 7, size: 100))), completion: $1) })
    #expect(traces() == [])
    episode.close()
    #expect(eventually { traces() == [] }, "\(traces())")
    client.stop()
  }
}
