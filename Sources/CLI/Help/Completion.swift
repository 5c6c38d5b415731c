internal import Catalog
internal import Configuration
internal import PodcastModel

/// Completions for shells. Their scripts ask the program itself: `podcastfs help --complete SHELL LINE`.
enum Completion: String {
  case bash, zsh, fish

  /// What may take the place of the last word of a line, with an explanation behind a tab where there is one. "/f" stands for
  /// the names of files, "/d" for those of directories.
  func candidates(_ line: String) -> [String] {
    let words = Self.words(line)
    let (typed, before) = (words.last ?? "", words.dropFirst().dropLast())
    if before.last == "-o" { return options(typed) }
    let command = before.first { !$0.hasPrefix("-") }
    guard let command = CommandLineTool.commands.first(where: { $0.name == command }) else {
      let commands = CommandLineTool.commands.map { "\($0.name)\t\($0.summary)" }
      return (commands + ["--help", "--version"]).filter { $0.hasPrefix(typed) }
    }
    let form = CommandForm(command)
    let own = (form.flags + ["--help"]).filter { $0.hasPrefix(typed) && typed.hasPrefix("-") }
    if !own.isEmpty { return own }
    let isFirst = before.filter { !$0.hasPrefix("-") }.count == 1
    let verbs = isFirst ? form.verbs.filter { $0.hasPrefix(typed) } : []
    return verbs.isEmpty ? Self.operands(form, typed) : verbs
  }

  private static func operands(_ form: CommandForm, _ typed: String) -> [String] {
    func beginning(_ words: [String]) -> [String] {
      words.filter { $0.lowercased().hasPrefix(typed.lowercased()) }
    }
    if form.name == HelpCommand.name {
      return beginning(CommandLineTool.commands.map { $0.name } + ["options"])
    }
    let takesFiles = ["PATH", "FILE"].contains(where: form.takes)
    if form.takes("NAME") || form.takes("PODCAST") || form.name == RefreshCommand.name {
      let names = beginning((try? CatalogSession().catalog.subscriptions().map(\.name)) ?? [])
      return names.isEmpty && takesFiles ? ["/f"] : names
    }
    return takesFiles ? ["/f"] : form.takes("MOUNTPOINT") ? ["/d"] : []
  }

  /// Of several options the last is completed. Bash takes what stands behind a "=" for a word of its own.
  private func options(_ typed: String) -> [String] {
    let last = typed.split(separator: ",", omittingEmptySubsequences: false).last ?? ""
    let kept = typed.dropLast(last.count)
    let shown = self == .bash ? kept.split(separator: "=", omittingEmptySubsequences: false).last ?? "" : kept
    let keys = OptionHelp.all.filter { $0.place != .fileOnly }.map { option in
      (word: option.placeholder == nil ? option.key : option.key + "=", text: option.text)
    }
    return keys.filter { $0.word.hasPrefix(last) }.map { "\(shown)\($0.word)\t\($0.text)" }
  }

  /// The words of a line, without their quotes; the last one may be empty.
  private static func words(_ line: String) -> [String] {
    var words = [""]
    var quote: Character?
    var isEscaped = false
    for character in line {
      if isEscaped || quote == nil && character == "\\" {
        if isEscaped { words[words.count - 1].append(character) }
        isEscaped.toggle()
      } else if let open = quote {
        if character == open { quote = nil } else { words[words.count - 1].append(character) }
      } else if "'\"".contains(character) {
        quote = character
      } else if character == " " {
        if words.last != "" { words.append("") }
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words
  }

  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  private static let bashScript = #"""
    # bash completion for podcastfs; podcastfs help --completion bash writes it
    _podcastfs() {
      local line typed=${COMP_WORDS[COMP_CWORD]}
      COMPREPLY=()
      while IFS= read -r line; do
        line=${line%%$'\t'*}
        case $line in
          /?) compopt -o filenames 2>/dev/null
              line=${line#/} typed=${typed//\\/}
              while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "-$line" -- "${typed#[\"\']}") ;;
          *=) compopt -o nospace 2>/dev/null
              COMPREPLY+=("$line") ;;
          # As what is typed is quoted.
          *) case $typed in
               \"*) COMPREPLY+=("$(printf '%s' "$line" | sed 's/[\\$`"]/\\&/g')") ;;
               \'*) COMPREPLY+=("${line//\'/\'\\\'\'}") ;;
               *) COMPREPLY+=("$(printf '%q' "$line")") ;;
             esac ;;
        esac
      done < <(podcastfs help --complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    }
    complete -F _podcastfs podcastfs

    """#

  private static let zshScript = #"""
    #compdef podcastfs
    # podcastfs help --completion zsh writes it
    _podcastfs() {
      local line
      for line in "${(@f)$(podcastfs help --complete zsh "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}"; do
        line=${line%%$'\t'*}
        case $line in
          /f) _files ;;
          /d) _files -/ ;;
          *=) compadd -S '' -- "$line" ;;
          ?*) compadd -- "$line" ;;
        esac
      done
    }
    _podcastfs "$@"

    """#

  private static let fishScript = #"""
    # podcastfs help --completion fish writes it
    function __podcastfs
      for line in (podcastfs help --complete fish (commandline -cp) 2>/dev/null)
        switch $line
          case /f
            __fish_complete_path (commandline -ct)
          case /d
            __fish_complete_directories (commandline -ct)
          case '*'
            echo $line
        end
      end
    end
    complete -c podcastfs -f -a '(__podcastfs)'

    """#
}
