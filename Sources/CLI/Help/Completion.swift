internal import Configuration

/// Completions for shells, from the texts of the commands and the options. The names of subscriptions come from
/// `podcastfs list --names`.
enum Completion: String {
  case bash, zsh, fish

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  /// What a command's operands are.
  private enum Operand { case nothing, files, directories, names, namesAndFiles, commands }

  private static var commands: [CommandForm] { CommandLineTool.commands.map { CommandForm($0) } }

  private static func operand(_ form: CommandForm) -> Operand {
    if form.takes("COMMAND") && form.name == HelpCommand.name { return .commands }
    if form.takes("NAME") { return .names }
    if form.name == RefreshCommand.name { return .namesAndFiles }
    if form.takes("PATH") || form.takes("FILE") || form.takes("opml") { return .files }
    return form.takes("MOUNTPOINT") ? .directories : .nothing
  }

  private static var optionKeys: [String] {
    OptionHelp.all.filter { $0.place != .fileOnly }.map { $0.placeholder == nil ? $0.key : $0.key + "=" }
  }

  // MARK: bash

  private static var bashText: String {
    let cases = commands.map { form in
      let operands =
        switch operand(form) {
        case .nothing: ""
        case .files: "; _podcastfs_files"
        case .directories: "; _podcastfs_files -d"
        case .names: "; _podcastfs_names"
        case .namesAndFiles: "; _podcastfs_names; ((${#COMPREPLY[@]})) || _podcastfs_files"
        case .commands: "; words+=(\(commands.map(\.name).joined(separator: " ")) options)"
        }
      return "    \(form.name)) words=(\((form.flags + ["--help"]).joined(separator: " ")))\(operands) ;;"
    }
    return """
      # bash completion for podcastfs; podcastfs help --completion bash writes it
      _podcastfs_names() {
        local name
        while IFS= read -r name; do
          [[ ${name,,} == "${typed,,}"* ]] || continue
          # As what is typed is quoted.
          case $current in
            \\"*) COMPREPLY+=("$(printf '%s' "$name" | sed 's/[\\\\$`"]/\\\\&/g')") ;;
            \\'*) COMPREPLY+=("${name//\\'/\\'\\\\\\'\\'}") ;;
            *) COMPREPLY+=("$(printf '%q' "$name")") ;;
          esac
        done < <(podcastfs list --names 2>/dev/null)
      }
      _podcastfs_files() {
        compopt -o filenames 2>/dev/null
        local name
        while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen "${1:--f}" -- "$typed")
      }
      # Of several options only the last is completed; the shell takes what stands behind a "=" for a word.
      _podcastfs_options() {
        local line=${COMP_LINE:0:COMP_POINT} last option
        last=${line##*[[:blank:]]}
        [[ ${line%"$last"} =~ [[:blank:]]-o[[:blank:]]+$ ]] || return 1
        compopt -o nospace 2>/dev/null
        [[ ${last##*,} == *=* ]] && return 0
        for option in \(optionKeys.joined(separator: " ")); do
          [[ $option == "${last##*,}"* ]] && COMPREPLY+=("${current%"${current##*,}"}$option")
        done
        return 0
      }
      _podcastfs() {
        local current=${COMP_WORDS[COMP_CWORD]} words=() typed command= place
        COMPREPLY=()
        for ((place = 1; place < COMP_CWORD; place++)); do
          [[ ${COMP_WORDS[place]} == -* ]] || { command=${COMP_WORDS[place]}; break; }
        done
        # What is typed may be quoted, as it will be written.
        typed=${current//\\\\/}; typed=${typed#[\\"\\']}
        _podcastfs_options && return
        if [[ -z $command ]]; then
          words=(\(commands.map(\.name).joined(separator: " ")) --help --version)
        else
          case $command in
      \(cases.joined(separator: "\n"))
          esac
        fi
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "${words[*]}" -- "$current")
      }
      complete -F _podcastfs podcastfs

      """
  }

  // MARK: zsh

  private static var zshText: String {
    let list = commands.map { "    '\($0.name):\(quoted($0.summary))'" }.joined(separator: "\n")
    let cases = commands.map { form in
      let flags = (form.flags + ["--help"]).map { flag in
        flag == "-o" ? "'*-o[options]:options:_podcastfs_options'" : "'\(flag)'"
      }
      let operands =
        switch operand(form) {
        case .nothing: ""
        case .files: " '*:file:_files'"
        case .directories: " '*:directory:_files -/'"
        case .names: " '*:subscription:_podcastfs_names'"
        case .namesAndFiles: " '*: :_podcastfs_names_and_files'"
        case .commands: " '*:command:(\(commands.map(\.name).joined(separator: " ")) options)'"
        }
      return "    \(form.name)) _arguments \(flags.joined(separator: " "))\(operands) ;;"
    }
    return """
      #compdef podcastfs
      # podcastfs help --completion zsh writes it
      _podcastfs_names() {
        local -a names
        names=("${(@f)$(podcastfs list --names 2>/dev/null)}")
        compadd -a names
      }
      _podcastfs_names_and_files() { _podcastfs_names; _files }
      _podcastfs_options() {
        _values -s , option \(optionKeys.map { $0.hasSuffix("=") ? "'\($0.dropLast()):value: '" : "'\($0)'" }.joined(separator: " "))
      }
      _podcastfs() {
        local -a commands
        commands=(
      \(list)
        )
        # What may stand before the command.
        while ((CURRENT > 2)) && [[ $words[2] == -* ]]; do
          shift words
          ((CURRENT--))
        done
        if ((CURRENT == 2)); then
          _describe command commands
          return
        fi
        local command=$words[2]
        shift words
        ((CURRENT--))
        case $command in
      \(cases.joined(separator: "\n"))
        esac
      }
      _podcastfs "$@"

      """
  }

  private static func quoted(_ text: String) -> String {
    text.reduce(into: "") { $0 += $1 == "'" ? "'\\''" : $1 == ":" ? "\\:" : String($1) }
  }

  // MARK: fish

  private static var fishText: String {
    var lines = [
      "# podcastfs help --completion fish writes it",
      "complete -c podcastfs -f",
      "complete -c podcastfs -n __fish_use_subcommand -l help -d 'list the commands'",
      "complete -c podcastfs -n __fish_use_subcommand -l version -d 'tell the version'",
    ]
    for form in commands {
      let here = "complete -c podcastfs -n '__fish_seen_subcommand_from \(form.name)'"
      lines.append(
        "complete -c podcastfs -n __fish_use_subcommand -a \(form.name) -d '\(fishQuoted(form.summary))'")
      for flag in form.flags + ["--help"] {
        if flag == "-o" {
          lines.append(here + " -s o -x -a '\(optionKeys.joined(separator: " "))' -d options")
        } else {
          lines.append(here + (flag.hasPrefix("--") ? " -l \(flag.dropFirst(2))" : " -s \(flag.dropFirst())"))
        }
      }
      switch operand(form) {
      case .nothing: break
      case .files: lines.append(here + " -F")
      case .directories: lines.append(here + " -a '(__fish_complete_directories)'")
      case .names: lines.append(here + " -a '(podcastfs list --names 2>/dev/null)'")
      case .namesAndFiles: lines.append(here + " -F -a '(podcastfs list --names 2>/dev/null)'")
      case .commands: lines.append(here + " -a '\(commands.map(\.name).joined(separator: " ")) options'")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fishQuoted(_ text: String) -> String {
    text.reduce(into: "") { $0 += $1 == "'" ? "\\'" : String($1) }
  }
}
