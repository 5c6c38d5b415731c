import Configuration
import Testing

@Suite struct OptionListTests {
  private typealias Option = OptionList.Option

  @Test func anOptionListIsSplitAtCommasThatNoBackslashStandsBefore() {
    let list = OptionList(#"ro,on_complete=echo a\,b,,fsname=x=y,user_agent=a\\b,proxy=,p\054q,end\"#)
    #expect(
      list.options == [
        Option("ro"), Option("on_complete", "echo a,b"), Option("fsname", "x=y"),
        Option("user_agent", #"a\b"#), Option("proxy", ""), Option("p,q"), Option(#"end\"#),
      ])
  }

  @Test func theTextOfAListGivesTheSameListAgain() {
    let options = [Option("fsname", #"a,b\c"#), Option("ro"), Option("subtype", "podcastfs")]
    #expect(OptionList(OptionList.text(options)).options == options)
  }

  @Test func doubleQuotesAroundAWholeValueKeepItsCommas() {
    let list = OptionList("a=\"x,y\",b=\"z,c=x\"y,d=\"\"")
    #expect(list.options.map(\.key) == ["a", "b", "c", "d"])
    #expect(list.options.map(\.value) == ["x,y", "\"z", "x\"y", ""])
  }
}
