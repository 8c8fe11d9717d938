# bash completion for vacant. Installed to share/bash-completion/completions/vacant.
_vacant() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
  local evidence="--base --base-tree --base-root --base-salt --base-size --base-block --written --fingerprints --placeholder-key --hash-key --baseline --ram --direct --trust-holes --threads --json --quiet"
  case $previous in
    --policy) mapfile -t COMPREPLY < <(compgen -W "handover in-use inside" -- "$current"); return ;;
    --profile) mapfile -t COMPREPLY < <(compgen -W "inventory known-answer full" -- "$current"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "text json sarif junit html" -- "$current"); return ;;
    --trust-holes) mapfile -t COMPREPLY < <(compgen -W "auto never remote" -- "$current"); return ;;
    keygen) mapfile -t COMPREPLY < <(compgen -W "report placeholder hash" -- "$current"); return ;;
    secrets) mapfile -t COMPREPLY < <(compgen -W "fingerprints placeholder" -- "$current"); return ;;
  esac
  if (( COMP_CWORD == 1 )); then
    mapfile -t COMPREPLY < <(compgen -W "scan secrets keygen rules --help --version" -- "$current")
  elif [[ $current == -* && $command == scan && ${COMP_WORDS[2]-} == verify ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--key $evidence" -- "$current")
  elif [[ $current == -* && $command == scan ]]; then
    mapfile -t COMPREPLY < <(compgen -W "--policy --profile --resume --format --output --also --sign-key --carve --baseline-out --reason --expires --reveal $evidence" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    [[ $command == scan && $COMP_CWORD -eq 2 && verify == "$current"* ]] && COMPREPLY+=(verify)
  fi
}
complete -o filenames -F _vacant vacant
