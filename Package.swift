// swift-tools-version: 6.2
import PackageDescription

/// Swift 6 mode, every warning an error, and the checks on imports that keep the layers apart.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The programs carry the Swift runtime with them: they start in milliseconds and run where no toolchain is.
let standalone: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib"], .when(configuration: .release))
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// - Parameter exclude: files that the tests find beside their sources.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func system(_ name: String, _ pkgConfig: String, _ debian: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

let package = Package(
  name: "podcastfs",
  products: [
    .executable(name: "podcastfs", targets: ["podcastfs"]),
    .executable(name: "podcastfs-transferd", targets: ["podcastfs-transferd"]),
    .executable(name: "podcastfs-keep", targets: ["podcastfs-keep"]),
  ],
  targets: [
    // System libraries: each imported by exactly one wrapper.
    system("CFuse3", "fuse3", "libfuse3-dev"),
    system("CLibXML2", "libxml-2.0", "libxml2-dev"),
    system("CSQLite", "sqlite3", "libsqlite3-dev"),
    system("CZlib", "zlib", "zlib1g-dev"),
    .target(name: "CLinux"),
    // Loads libcurl when it is needed: only its headers are used here.
    .target(name: "CCurl", cSettings: [.define("_GNU_SOURCE")]),
    // Loads libsystemd when it is needed, which need not be there.
    .target(name: "CSystemd"),

    // Wrappers: no C type in their surface.
    library("PosixKit", ["CLinux", "WebValues"]),
    library("FuseKit", ["CFuse3", "CLinux", "PosixKit"]),
    library("HTTPKit", ["CCurl", "WebValues", "PosixKit"]),
    library("BusKit", ["CSystemd", "PosixKit"]),
    library("FeedKit", ["CLibXML2", "CZlib", "Identity", "PodcastModel", "PosixKit", "SQLiteKit"]),
    library("SQLiteKit", ["CSQLite", "PosixKit", "WebValues"]),

    // Values and rules.
    library("WebValues"),
    library("PodcastModel", ["WebValues"]),
    library("Configuration", ["PodcastModel", "PosixKit"]),

    // Episodes: what is here, and how the rest comes.
    library("EpisodeCache", ["PodcastModel", "PosixKit"]),
    library("TransferProtocol", ["PodcastModel", "PosixKit"]),
    library("TransferEngine", ["TransferProtocol", "PodcastModel", "PosixKit"]),
    library("TransferStore", ["TransferProtocol", "PodcastModel", "PosixKit", "SQLiteKit"]),
    library(
      "TransferClient",
      ["Configuration", "EpisodeCache", "TransferProtocol", "TransferStore", "PodcastModel", "PosixKit"]),
    library(
      "Transfers",
      [
        "BusKit", "Configuration", "EpisodeCache", "HTTPKit", "SQLiteKit", "TransferEngine",
        "TransferProtocol",
        "TransferStore",
        "PodcastModel", "PosixKit",
      ]),

    // What is known, and how it is shown.
    library("Identity", ["PodcastModel"]),
    library("Directory", ["Configuration", "FeedKit", "HTTPKit", "SQLiteKit", "PodcastModel", "PosixKit"]),
    library("Transcripts", ["SQLiteKit", "PodcastModel", "PosixKit"]),
    library(
      "Catalog",
      [
        "Configuration", "Directory", "FeedKit", "Identity", "HTTPKit", "SQLiteKit", "PodcastModel",
        "PosixKit", "Transcripts",
      ]),
    // Other devices, by a server: how far one is, and what is followed.
    library("Sync", ["Catalog", "Configuration", "HTTPKit", "PodcastModel", "PosixKit"]),
    // Another process takes a mount over: its connection, the kernel's greeting, what is open.
    library("MountHandover", ["CLinux", "PosixKit"]),
    library(
      "PodcastTree",
      ["Catalog", "Configuration", "Sync", "TransferProtocol", "Transcripts", "PodcastModel", "PosixKit"]),
    library("PodcastMount", ["FuseKit", "MountHandover", "PodcastTree", "PosixKit"]),

    // A small HTTP server on loopback: the demo's, and the tests' origin.
    library("HTTPServerKit", ["WebValues", "PosixKit"]),
    .target(name: "CDemoMedia", exclude: ["compose", "media"]),
    library("Demo", ["CDemoMedia", "HTTPServerKit", "PodcastModel", "PosixKit"]),

    // The mount's process.
    library(
      "MountService",
      [
        "BusKit", "Catalog", "Configuration", "Directory", "FeedKit", "FuseKit", "HTTPKit", "MountHandover",
        "PodcastMount", "PodcastTree", "Sync", "TransferClient", "TransferProtocol", "PodcastModel",
        "PosixKit",
      ]),
    // The commands, one file or folder each.
    library(
      "CLI",
      [
        "BusKit", "MountService", "Catalog", "Configuration", "Demo", "Directory", "EpisodeCache", "FeedKit",
        "FuseKit",
        "HTTPKit",
        "MountHandover",
        "PodcastTree", "SQLiteKit", "Sync", "TransferClient", "TransferProtocol", "TransferStore",
        "Transcripts",
        "PodcastModel",
        "PosixKit",
      ]),
    // Plain C: it lives as long as a mount, and has to be small.
    .executableTarget(name: "podcastfs-keep", dependencies: ["CLinux"], linkerSettings: standalone),
    .executableTarget(
      name: "podcastfs", dependencies: ["CLI", "PosixKit"], swiftSettings: strict,
      linkerSettings: standalone),
    .executableTarget(
      name: "podcastfs-transferd",
      dependencies: ["Configuration", "TransferProtocol", "Transfers", "PosixKit"],
      swiftSettings: strict, linkerSettings: standalone),

    // Measurements: see Documentation/Measuring.md.
    .executableTarget(
      name: "podcastfs-bench",
      dependencies: [
        "CLibXML2", "Catalog", "Configuration", "Directory", "FeedKit", "HTTPKit", "HTTPServerKit",
        "PodcastModel", "PosixKit", "TestSupport", "TransferClient", "TransferProtocol", "Transcripts",
      ],
      path: "Benchmarks/podcastfs-bench", swiftSettings: strict),

    // What the tests share: an origin with every fault, a directory service, files, processes.
    .target(
      name: "TestSupport",
      dependencies: [
        "CTestLinux", "Configuration", "HTTPKit", "HTTPServerKit", "PodcastModel", "PosixKit", "SQLiteKit",
        "TransferProtocol", "WebValues",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),

    tests("PosixKitTests", ["CLinux", "PosixKit", "TestSupport"]),
    tests("BusKitTests", ["BusKit", "PosixKit", "TestSupport"]),
    tests("SQLiteKitTests", ["CSQLite", "SQLiteKit", "PosixKit", "TestSupport"]),
    tests(
      "CatalogTests",
      [
        "Catalog", "Configuration", "Directory", "FeedKit", "HTTPKit", "HTTPServerKit", "MountService",
        "PodcastModel", "PosixKit", "SQLiteKit", "TestSupport", "TransferProtocol", "podcastfs",
      ],
      exclude: ["Fixtures"]),
    tests(
      "DirectoryTests",
      [
        "Configuration", "Directory", "FeedKit", "HTTPKit", "HTTPServerKit", "PodcastModel", "PosixKit",
        "SQLiteKit",
        "TestSupport", "podcastfs",
      ]),
    tests("TranscriptsTests", ["Transcripts", "SQLiteKit", "PodcastModel", "PosixKit", "TestSupport"]),
    tests(
      "SyncTests",
      [
        "Catalog", "Configuration", "FeedKit", "HTTPKit", "HTTPServerKit", "PodcastModel", "PosixKit",
        "SQLiteKit",
        "Sync", "TestSupport", "podcastfs",
      ]),
    tests("IdentityTests", ["Identity", "PodcastModel", "PosixKit"], exclude: ["Histories"]),
    tests("TransferEngineTests", ["PodcastModel", "PosixKit", "TransferEngine", "TransferProtocol"]),
    tests(
      "TransfersTests",
      [
        "BusKit", "EpisodeCache", "PodcastModel", "PosixKit", "TestSupport", "TransferEngine",
        "TransferProtocol", "TransferStore", "Transfers",
      ]),
    tests("EpisodeCacheTests", ["EpisodeCache", "PodcastModel", "PosixKit", "TestSupport"]),
    tests("TransferProtocolTests", ["TransferProtocol", "PodcastModel", "PosixKit"]),
    tests(
      "TransferClientTests",
      [
        "Configuration", "EpisodeCache", "HTTPServerKit", "TransferClient", "TransferProtocol",
        "TransferStore", "PodcastModel", "PosixKit", "SQLiteKit", "TestSupport", "podcastfs",
        "podcastfs-transferd",
      ]),
    tests(
      "PodcastTreeTests",
      [
        "PodcastTree", "Catalog", "Configuration", "FeedKit", "HTTPKit", "SQLiteKit", "TransferProtocol",
        "PodcastModel", "PosixKit",
        "TestSupport", "podcastfs",
      ]),
    tests(
      "PodcastMountTests",
      ["FuseKit", "MountHandover", "PodcastMount", "PodcastTree", "PosixKit", "TestSupport"]),
    tests("PodcastModelTests", ["PodcastModel", "TestSupport"]),
    tests(
      "FeedKitTests", ["FeedKit", "PodcastModel", "PosixKit", "TestSupport", "podcastfs"],
      exclude: ["Fixtures"]),
    tests("ConfigurationTests", ["Configuration", "PodcastModel", "PosixKit", "TestSupport"]),
    tests(
      "CommandsTests",
      [
        "CLI", "Configuration", "Demo", "HTTPKit", "HTTPServerKit", "TransferProtocol", "PodcastModel",
        "PosixKit", "SQLiteKit", "TestSupport", "CTestLinux",
        "podcastfs", "podcastfs-transferd",
      ], exclude: ["Screens"]),
    tests("DemoTests", ["Demo", "HTTPKit", "TestSupport"]),
    tests("HTTPServerKitTests", ["HTTPKit", "HTTPServerKit", "PodcastModel", "PosixKit", "TestSupport"]),
    tests("TestSupportTests", ["HTTPKit", "TestSupport"]),
    tests("HTTPKitTests", ["HTTPKit", "HTTPServerKit", "PosixKit", "TestSupport"]),
    // Linux calls that only tests make.
    .target(name: "CTestLinux", path: "Tests/CTestLinux"),
    .testTarget(
      name: "MountTests",
      dependencies: [
        "CTestLinux", "PosixKit", "SQLiteKit", "TestSupport", "podcastfs", "podcastfs-keep",
        "podcastfs-transferd",
      ],
      swiftSettings: strict),
  ]
)

// Fuzzing needs the compiler's sanitizer for it: see Documentation/Contributing.md.
if Context.environment["PODCASTFS_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
    .executableTarget(
      name: "podcastfs-fuzz",
      dependencies: [
        "CFuzzer", "Catalog", "Configuration", "FeedKit", "HTTPKit", "Identity", "PodcastModel", "PosixKit",
      ],
      path: "Fuzz/podcastfs-fuzz", swiftSettings: strict),
  ]
}

// Builds only the test targets that this variable names, with commas between them: see Documentation/Contributing.md.
if let wanted = Context.environment["PODCASTFS_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.isTest && !wanted.contains($0.name) }
}
