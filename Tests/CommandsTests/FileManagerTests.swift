import PosixKit
import TestSupport
import Testing

/// The module that Nautilus, Nemo and Caja load, on a real mount, in place of which stands a class with their methods.
@Suite(.enabled(if: DesktopMount.isPossible, "this user cannot mount"), .serialized)
struct FileManagerTests {
  private static let folder =
    #filePath.replacing("Tests/CommandsTests/FileManagerTests.swift", with: "mount-helper/files/desktop")

  /// What Python prints of a file or folder: its columns, emblems, and the menu; `choose` activates an entry.
  private func look(_ mount: DesktopMount, _ path: String, choose: String = "") throws -> [String] {
    let script = """
      import sys
      sys.path.insert(0, sys.argv[1])
      sys.dont_write_bytecode = True
      from gi.repository import Gio, GLib
      import podcastfs_files
      class Item:
        def __init__(self, name, label): self.name, self.label, self.menu, self.act = name, label, None, None
        def set_submenu(self, menu): self.menu = menu
        def connect(self, signal, act, *values): self.act = lambda: act(self, *values)
      class Menu(list):
        append_item = list.append
      class Library:
        MenuItem, Menu = Item, Menu
        Column = staticmethod(lambda **values: values)
      class File:
        def __init__(self, path): self.location, self.emblems, self.texts = Gio.File.new_for_path(path), [], {}
        def get_uri_scheme(self): return 'file'
        def get_location(self): return self.location
        def is_directory(self): return self.location.query_file_type(0, None) == Gio.FileType.DIRECTORY
        def add_string_attribute(self, name, value): self.texts[name] = value
        def add_emblem(self, name): self.emblems.append(name)
      class Provider(podcastfs_files.Provider): library = Library
      provider, file = Provider(), File(sys.argv[2])
      provider.update_file_info(file)
      print('|'.join(file.texts[column['attribute']] for column in provider.get_columns()))
      print(','.join(file.emblems))
      items = [item for top in provider.get_file_items([file]) for item in top.menu]
      print('|'.join(item.label for item in items))
      for item in items:
        if item.label == sys.argv[3]:
          item.act()
          loop = GLib.MainLoop()
          GLib.timeout_add(300, loop.quit)
          loop.run()
      """
    var variables = mount.environment.variables
    variables["PATH", default: ""] += ":\(Products.path("").dropLast())"
    let process = try RunningProcess(
      "/usr/bin/python3", ["-c", script, Self.folder, path, choose], environment: variables)
    #expect(process.wait() == .exit(0), "\(process.errors)")
    return process.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test func theStateOfAnEpisodeIsShownAndItsMenuFits() throws {
    let mount = try DesktopMount(options: "min_free=0,played_margin=0")
    let episode = try mount.episodes[0]
    try ExtendedAttributes.set("user.podcastfs.position", of: episode, to: "12")
    var seen = try look(mount, episode, choose: "Download")
    #expect(seen[0] == "||0:24|0:12" && seen[1].isEmpty)
    #expect(seen[2].hasPrefix("Download|Mark as played|Keep|") && seen[2].hasSuffix("|Show information"))
    #expect(eventually { mount.attribute("state", episode) == "cached" })
    seen = try look(mount, episode, choose: "Mark as played")
    #expect(seen[0] == "|downloaded|0:24|0:12" && seen[1] == "emblem-default")
    #expect(seen[2].hasPrefix("Drop download|"))
    _ = try look(mount, episode, choose: "Show information")
    #expect(eventually { mount.opened.hasSuffix("/information.txt\n") })
    #expect(eventually { mount.attribute("played", episode) == "1" })
    seen = try look(mount, episode, choose: "Drop download")
    #expect(seen[0] == "|downloaded|0:24|played" && seen[2].contains("|Mark as unplayed|"))
    #expect(eventually { mount.attribute("state", episode) == "remote" })
  }

  @Test func aPodcastOfASearchCanBeFollowed() throws {
    let mount = try DesktopMount()
    let seen = try look(mount, mount.show, choose: "Follow")
    #expect(seen[0] == "|||" && seen[2] == "Follow|Show information")
    #expect(eventually { Directories.exists(mount.root + "/Subscriptions/Harbour Lights") })
    #expect(try look(mount, mount.root + "/Subscriptions/Harbour Lights")[2] == "Show information")
  }

  @Test func theCoverIsTheIconOfAPodcastOnceItIsCached() throws {
    let mount = try DesktopMount()
    func cover() throws -> String {
      let script = """
        import sys
        sys.path.insert(0, sys.argv[1])
        sys.dont_write_bytecode = True
        import podcastfs_files
        print(podcastfs_files.cover_of(sys.argv[2]))
        """
      let process = try RunningProcess(
        "/usr/bin/python3", ["-c", script, Self.folder, mount.show], environment: mount.environment.variables)
      #expect(process.wait() == .exit(0), "\(process.errors)")
      return process.output
    }
    #expect(try cover() == "None\n" && mount.attribute("last_refresh", mount.show) == nil)
    _ = try mount.episodes
    #expect(try cover() == "None\n")
    #expect(try Directories.read(mount.show + "/cover.png").count > 100)
    #expect(try cover() == mount.show + "/cover.png\n")
  }

  @Test func otherFilesHaveNothingOfIt() throws {
    let mount = try DesktopMount()
    let file = mount.environment.home.path("song.mp3")
    try Directories.replace(file, with: [1])
    #expect(try look(mount, file) == ["|||", "", "", ""])
    // Browsing downloads nothing.
    for episode in try mount.episodes { _ = try look(mount, episode) }
    #expect(try mount.run("status").output.hasPrefix("0 episodes downloaded"))
  }
}
