/// Ends the run where `condition` does not hold, and says which: a release build's precondition says nothing.
func require(
  _ condition: Bool, _ message: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #file
) {
  if condition { return }
  // The end of a fuzzing run is what it is for.
  fatalError("\(message()) does not hold", file: file, line: line)
}
