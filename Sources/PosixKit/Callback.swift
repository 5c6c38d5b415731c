/// A function that is kept to be called later: behind a `Monitor`, in an optional, in a table.
///
/// A closure that lies bare in a generic place (`Monitor<(() -> Void)?>`) is wrapped in two more functions each
/// time it is read there (swiftlang/swift issue 91348): memory and stack grow until the process dies. A struct
/// is read as it lies.
package struct Callback<Argument>: Sendable {
  private let body: @Sendable (Argument) -> Void

  package init(_ body: @escaping @Sendable (Argument) -> Void) { self.body = body }

  package func callAsFunction(_ argument: Argument) { body(argument) }
}

extension Callback where Argument == Void {
  package func callAsFunction() { body(()) }
}
