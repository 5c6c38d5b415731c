import Glibc
import TestSupport
import Testing

@Suite struct RunningProcessTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  @Test func aProgramRunsInTheEnvironmentOfTheTestAndIsHeardToItsEnd() throws {
    let process = try RunningProcess(
      "sh", ["-c", "echo $HOME; echo oops >&2; exit 3"], environment: environment.variables)
    #expect(process.wait() == .exit(3))
    #expect(process.output == environment.home.path + "\n")
    #expect(process.errors == "oops\n")
  }

  @Test func aProgramThatDoesNotEndIsKilled() throws {
    let process = try RunningProcess("sleep", ["60"], environment: environment.variables)
    #expect(process.wait(seconds: 0.05) == nil)
    process.signal(SIGKILL)
    #expect(process.wait() == .signal(SIGKILL))
  }

  @Test func aProgramThatIsNotThereIsAnError() {
    #expect(throws: (any Error).self) {
      try RunningProcess("/nonexistent/program", environment: environment.variables)
    }
  }

  @Test func theProductsAreBesideTheTests() {
    #expect(access(Products.path("podcastfs"), X_OK) == 0)
  }

  @Test func aTemporaryDirectoryGoesWithItsValue() throws {
    var directory: TemporaryDirectory? = try TemporaryDirectory()
    let path = try #require(directory?.path)
    try directory?.write("a/b/c.txt", "hello")
    #expect(access("\(path)/a/b/c.txt", R_OK) == 0)
    directory = nil
    #expect(access(path, F_OK) != 0)
  }
}
