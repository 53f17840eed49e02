import type { Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'

/** The words that may follow a command: its subcommands, then its flags. */
interface Words {
  /** The command as typed without options, for example `skerry cluster list`. */
  path: string
  words: readonly string[]
}

const shells: Readonly<Record<string, (words: readonly Words[]) => string>> = Object.freeze({
  bash: bashScript,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: fishScript,
})

/** A script that completes commands and flags; made from the program itself, so it is never behind. */
export function completionScript(program: Command, shell: string): string {
  const script = shells[shell]
  if (script === undefined) {
    throw new ExpectedError(`Cannot complete for ${shell}: use bash, zsh or fish`, exitCodes.usage)
  }
  return script(wordsOf(program, program.name()))
}

function wordsOf(command: Command, path: string): Words[] {
  const flags = command.options.flatMap((option) => option.long ?? [])
  const names = command.commands.map((each) => each.name())
  const own = { path, words: [...names, ...flags, '--help'] }
  return [own, ...command.commands.flatMap((each) => wordsOf(each, `${path} ${each.name()}`))]
}

function bashScript(words: readonly Words[]): string {
  const cases = words.map((each) => `    '${each.path}') words='${each.words.join(' ')}' ;;`)
  return `_skerry() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='skerry' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="$path $word" ;; esac
  done
  case $path in
${cases.join('\n')}
  esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _skerry skerry
`
}

function fishScript(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, words: candidates }) => {
    const seen = path.split(' ').slice(1)
    const condition =
      seen.length === 0
        ? '__fish_use_subcommand'
        : `__fish_seen_subcommand_from ${seen.at(-1) ?? ''}`
    return candidates.map((word) =>
      word.startsWith('--')
        ? `complete -c skerry -n '${condition}' -l ${word.slice(2)}`
        : `complete -c skerry -f -n '${condition}' -a ${word}`,
    )
  })
  return `${lines.join('\n')}\n`
}
