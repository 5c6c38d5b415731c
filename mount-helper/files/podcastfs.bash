# bash completion for podcastfs, from its own help. In zsh: autoload -U bashcompinit && bashcompinit, then source it.
_podcastfs() {
  local typed=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words word
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$(podcastfs help | sed -n 's/^  \([a-z]\)/\1/p' | sed 's/  .*//; s/ | /\n/g')
  elif [[ $before == -o ]]; then
    words=$(podcastfs help --all options | sed -n 's/^  \([a-z_]*=\{0,1\}\).*/\1/p')
  elif [[ $typed == -* ]]; then
    words=$(podcastfs help "${COMP_WORDS[1]}" | grep -o -- '--[a-z-]*' | sort -u)
  else
    words=$(podcastfs list --names 2>/dev/null)
  fi
  while IFS= read -r word; do
    [[ -n $word && ${word,,} == "${typed,,}"* ]] || continue
    [[ $word == *= ]] || word=$(printf '%q' "$word")
    COMPREPLY+=("$word")
  done <<<"$words"
}
complete -o default -F _podcastfs podcastfs
