internal import Glibc
internal import PosixKit

/// Debian's squid as a household sets it up (Documentation/Recipes.md): it keeps episodes for several machines; with a
/// certificate authority of its own also those that come by https.
package final class HouseholdProxy: Sendable {
  private let directory: TemporaryDirectory
  private let process: RunningProcess
  package let port: UInt16
  /// What clients trust in the place of the system's authorities; nil without https.
  package let authority: String?

  private static let certificateMaker = "/usr/lib/squid/security_file_certgen"

  package static var isAvailable: Bool {
    Products.isInstalled("squid") && Products.isInstalled("openssl") && access(certificateMaker, X_OK) == 0
  }

  private struct Failure: Error, CustomStringConvertible { var description: String }

  /// - Parameter trusted: the authority of the https hosts behind it; nil for http alone.
  package init(trusting trusted: String?) throws {
    directory = try TemporaryDirectory()
    let directory = directory
    port = try Self.freePort()
    authority = trusted == nil ? nil : directory.path("proxy-ca.pem")
    var environment = ["PATH": Products.searchPath, "HOME": directory.path]
    environment["TMPDIR"] = directory.path
    func run(_ program: String, _ arguments: [String]) throws {
      let process = try RunningProcess(program, arguments, environment: environment)
      guard process.wait() == .exit(0) else { throw Failure(description: "\(program): \(process.errors)") }
    }
    if let trusted {
      try run(
        "openssl",
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", directory.path("proxy-ca.key"), "-out",
          directory.path("proxy-ca.pem"), "-days", "2", "-subj", "/CN=household proxy",
          "-addext", "basicConstraints=critical,CA:TRUE",
        ])
      let both =
        try Directories.read(directory.path("proxy-ca.pem"))
        + Directories.read(directory.path("proxy-ca.key"))
      try directory.write("proxy.pem", both)
      try directory.write("trusted.pem", try Directories.read(trusted))
      try run(Self.certificateMaker, ["-c", "-s", directory.path("certificates"), "-M", "4MB"])
    }
    try directory.write("squid.conf", Self.configuration(directory.path, port, hasTLS: trusted != nil))
    // Root's squid becomes this user.
    if geteuid() == 0 {
      try run("chown", ["-R", "proxy", directory.path])
      try run("chmod", ["-R", "go+rX", directory.path])
    }
    process = try RunningProcess(
      "squid", ["-N", "-n", "podcastfs\(port)", "-f", directory.path("squid.conf")], environment: environment)
    let (port, process) = (port, process)
    guard eventually({ (try? LoopbackSocket.connect(to: port)) != nil }) else {
      let log = (try? Directories.read(directory.path("cache.log"))) ?? []
      throw Failure(description: "squid: \(process.errors)\(String(decoding: log, as: UTF8.self))")
    }
  }

  deinit {
    // In order: its shared memory has a name.
    process.signal(SIGTERM)
    if process.wait(seconds: 5) != nil { return }
    process.signal(SIGKILL)
    _ = process.wait(seconds: 5)
  }

  /// A port that was free a moment ago: squid takes no 0.
  private static func freePort() throws -> UInt16 {
    let listener = try LoopbackSocket.listen()
    return try LoopbackSocket.port(of: listener.rawValue)
  }

  /// What it has written down of itself and of requests.
  package var log: String {
    ["cache.log", "access.log"].map { name in
      String(decoding: (try? Directories.read(directory.path(name))) ?? [], as: UTF8.self)
    }.joined()
  }

  package var address: String { "http://127.0.0.1:\(port)" }

  private static func configuration(_ directory: String, _ port: UInt16, hasTLS: Bool) -> String {
    let bump = hasTLS ? " ssl-bump tls-cert=\(directory)/proxy.pem generate-host-certificates=on" : ""
    let tls = """
      sslcrtd_program \(certificateMaker) -s \(directory)/certificates -M 4MB
      sslcrtd_children 2
      acl first at_step SslBump1
      ssl_bump peek first
      ssl_bump bump all
      tls_outgoing_options cafile=\(directory)/trusted.pem

      """
    return """
      http_port 127.0.0.1:\(port)\(bump)
      \(hasTLS ? tls : "")http_access allow all
      cache_mem 128 MB
      maximum_object_size_in_memory 64 MB
      maximum_object_size 2 GB
      range_offset_limit none
      quick_abort_min -1 KB
      collapsed_forwarding on
      refresh_pattern -i \\.(mp3|m4a|aac|ogg|opus|mp4|m4v)(\\?|$) 10080 100% 43200
      refresh_pattern . 0 20% 4320
      shutdown_lifetime 0 seconds
      pid_filename \(directory)/squid.pid
      cache_log \(directory)/cache.log
      access_log stdio:\(directory)/access.log
      netdb_filename none
      coredump_dir \(directory)
      visible_hostname localhost

      """
  }
}
