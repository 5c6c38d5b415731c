import Configuration
import Testing

@Suite struct OptionListTests {
  private typealias Option = OptionList.Option

  @Test func anOptionListIsSplitAtCommasThatNoBackslashStandsBefore() {
    let list = OptionList(#"ro,on_complete=echo a\,b,,fsname=x=y,user_agent=a\\b,proxy=,end\"#)
    #expect(
      list.options == [
        Option("ro"), Option("on_complete", "echo a,b"), Option("fsname", "x=y"),
        Option("user_agent", #"a\b"#), Option("proxy", ""), Option(#"end\"#),
      ])
  }

  @Test func theTextOfAListGivesTheSameListAgain() {
    let options = [Option("fsname", #"a,b\c"#), Option("ro"), Option("subtype", "podcastfs")]
    #expect(OptionList(OptionList.text(options)).options == options)
  }
}
