internal import Glibc

/// Measures what podcastfs promises of speed and memory; Documentation/Measuring.md has the figures.
let arguments = CommandLine.arguments.dropFirst()
do {
  switch arguments.first {
  case "feed": try FeedBenchmark.run(Array(arguments.dropFirst()))
  case "catalogue": try CatalogBenchmark.run(Array(arguments.dropFirst()))
  case "due": try DueBenchmark.run(Array(arguments.dropFirst()))
  case "directory": try DirectoryBenchmark.run(Array(arguments.dropFirst()))
  case "transcripts": try TranscriptBenchmark.run(Array(arguments.dropFirst()))
  case "politeness": try PolitenessBenchmark.run(Array(arguments.dropFirst()))
  case "transfers": try TransferBenchmark.run(Array(arguments.dropFirst()))
  default:
    print("usage: podcastfs-bench feed [--keep FILE] [--episodes N]")
    print("       podcastfs-bench catalogue [--home DIRECTORY] [--podcasts N] [--episodes N]")
    print("       podcastfs-bench due [SUBSCRIPTIONS]")
    print("       podcastfs-bench directory [--home DIRECTORY] [--rows N] [--import]")
    print("       podcastfs-bench transcripts [--home DIRECTORY] [--hours N]")
    print("       podcastfs-bench politeness DIRECTORY")
    print("       podcastfs-bench transfers [--size MB]")
    exit(64)
  }
} catch {
  print("podcastfs-bench: \(error)")
  exit(1)
}
