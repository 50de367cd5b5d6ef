# What zsh offers when the tab key is pressed behind a line, and then the line as that leaves it, behind "line: ".
#
#   zsh -f tab.zsh FOLDER-WITH-_sluice LINE
#
# A second zsh, at a terminal of its own, completes; in the current directory.
emulate -R zsh
zmodload zsh/zpty || exit 2
folder=$1 line=$2 shown= part=

read_until() {
  shown=
  while zpty -r tab part; do
    shown+=${part//$'\r'/}
    [[ $shown = *${~1}* ]] && return
  done
}

# Keys are pressed once the editor waits for them. A list that does not fit would be asked about.
zpty tab "stty rows 500 columns 200; TERM=dumb exec zsh -f -i"
zpty -w tab "fpath=(${(q)folder} \$fpath); autoload -Uz compinit; compinit -u -D; unset zle_bracketed_paste"
zpty -w tab 'told() { print -r -- $'\''\n'\''"@line: $BUFFER@"; exit }; zle -N told; bindkey "^T" told; bindkey "^I" complete-word'
zpty -w tab 'LISTMAX=0 PS1=; zle-line-init() { print @ready@ }; zle -N zle-line-init'
read_until '@ready@'$'\n'
zpty -w -n tab "$line"$'\t\C-t'
read_until '@line: *@'
zpty -d tab

setopt extended_glob
for part in ${(f)shown}; do
  # The rest is the line itself, as it is edited.
  [[ $part = $line* || $part = ' '# ]] || print -r -- ${${part%%' '##}//@/}
done
