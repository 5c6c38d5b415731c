/// A certificate authority of a test's own, made by the openssl command, with certificates for
/// 127.0.0.1 and localhost.
package struct CertificateAuthority: Sendable {
  /// The authority's certificate: what clients are told to trust.
  package let file: String
  /// The server's certificate and key.
  package let certificate: String
  package let key: String

  /// Makes one in a directory.
  /// - Parameters:
  ///   - names: what the server's certificate is for, as openssl's subjectAltName takes it.
  /// - Returns: nil where there is no openssl command.
  package init?(in directory: TemporaryDirectory, names: String = "IP:127.0.0.1,DNS:localhost") throws {
    guard Products.isInstalled("openssl") else { return nil }
    file = directory.path("ca.pem")
    certificate = directory.path("server.pem")
    key = directory.path("server.key")
    try directory.write("san.cnf", "subjectAltName=\(names)\n")
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    try Self.openssl(
      ["req", "-x509"] + curve + [
        "-keyout", directory.path("ca.key"), "-out", file, "-days", "2", "-subj", "/CN=podcastfs tests",
      ])
    try Self.openssl(
      ["req"] + curve + ["-keyout", key, "-out", directory.path("server.csr"), "-subj", "/CN=127.0.0.1"])
    try Self.openssl([
      "x509", "-req", "-in", directory.path("server.csr"), "-CA", file, "-CAkey", directory.path("ca.key"),
      "-CAcreateserial", "-out", certificate, "-days", "2", "-extfile", directory.path("san.cnf"),
    ])
  }

  private struct Failure: Error, CustomStringConvertible { var description: String }

  private static func openssl(_ arguments: [String]) throws {
    let process = try RunningProcess("openssl", arguments, environment: ["PATH": Products.searchPath])
    guard process.wait() == .exit(0) else { throw Failure(description: "openssl: \(process.errors)") }
  }
}
