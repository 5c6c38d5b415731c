internal import Glibc
internal import PosixKit

/// nginx in front of an origin: https with a certificate of the test's own, and HTTP/2.
package final class TLSFront: Sendable {
  package let authority: CertificateAuthority
  package let port: UInt16
  private let directory: TemporaryDirectory
  private let process: RunningProcess

  /// Whether this machine has what it takes: nginx and openssl.
  package static var isAvailable: Bool { Products.isInstalled("nginx") && Products.isInstalled("openssl") }

  private struct Failure: Error, CustomStringConvertible { var description: String }

  /// Serves what `origin` serves, over TLS.
  /// - Parameter names: what its certificate is for.
  package init(
    before origin: OriginServer, names: String = "IP:127.0.0.1,DNS:localhost", http2: Bool = true
  ) throws {
    directory = try TemporaryDirectory()
    guard let authority = try CertificateAuthority(in: directory, names: names) else {
      throw Failure(description: "there is no openssl command")
    }
    self.authority = authority
    port = try Self.freePort()
    try directory.write("nginx.conf", Self.configuration(directory, authority, port, origin.port, http2))
    process = try RunningProcess(
      "nginx", ["-p", directory.path, "-c", directory.path("nginx.conf"), "-e", directory.path("error.log")],
      environment: ["PATH": Products.searchPath])
    let port = port
    guard eventually({ Self.listens(port) }) else {
      throw Failure(description: "nginx does not start: \(process.errors)")
    }
  }

  /// "https://127.0.0.1:PORT".
  package var address: String { "https://127.0.0.1:\(port)" }

  deinit {
    // Nothing of it is to be kept: no need to wait for its connections.
    process.signal(SIGKILL)
    _ = process.wait(seconds: 5)
  }

  private static func configuration(
    _ directory: TemporaryDirectory, _ authority: CertificateAuthority, _ port: UInt16, _ origin: UInt16,
    _ http2: Bool
  ) -> String {
    """
    daemon off;
    master_process off;
    pid \(directory.path)/nginx.pid;
    events { worker_connections 512; }
    http {
      access_log off;
      client_body_temp_path \(directory.path)/body;
      proxy_temp_path \(directory.path)/proxy;
      fastcgi_temp_path \(directory.path)/fastcgi;
      uwsgi_temp_path \(directory.path)/uwsgi;
      scgi_temp_path \(directory.path)/scgi;
      server {
        listen 127.0.0.1:\(port) ssl\(http2 ? " http2" : "");
        ssl_certificate \(authority.certificate);
        ssl_certificate_key \(authority.key);
        location / {
          proxy_pass http://127.0.0.1:\(origin);
          proxy_http_version 1.1;
          proxy_buffering off;
          proxy_set_header Host $http_host;
          proxy_set_header Connection "";
        }
      }
    }
    """
  }

  /// A port that was free a moment ago: nginx takes no 0.
  private static func freePort() throws -> UInt16 {
    let listener = try LoopbackSocket.listen()
    return try LoopbackSocket.port(of: listener.rawValue)
  }

  private static func listens(_ port: UInt16) -> Bool {
    (try? LoopbackSocket.connect(to: port)) != nil
  }
}
