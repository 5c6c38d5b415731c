internal import CFuzzer
internal import Glibc

// podcastfs-fuzz feed|strip|result|identity|merge|opml|names|answer [libFuzzer's options] [CORPUS…]
let target = CommandLine.arguments.dropFirst().first
let callback: (@convention(c) (UnsafePointer<UInt8>?, Int) -> Int32)?
switch target {
case "feed": callback = { FeedFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "strip": callback = { StripFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "result": callback = { ResultFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "opml": callback = { OPMLFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "names": callback = { NameFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "identity": callback = { IdentityFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "merge": callback = { MergeFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
case "answer": callback = { AnswerFuzzing.run(UnsafeRawBufferPointer(start: $0, count: $1)) }
default: callback = nil
}
guard let callback else {
  print(
    "usage: podcastfs-fuzz feed|strip|result|identity|merge|opml|names|answer [libFuzzer's options] [CORPUS…]"
  )
  exit(64)
}
// libFuzzer takes the target's name for its program's.
var count = CommandLine.argc - 1
var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(LLVMFuzzerRunDriver(&count, &values, callback))
