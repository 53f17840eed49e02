import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { Command } from 'commander'
import { addCommands } from './command-table.ts'
import { completionScript } from './completion.ts'

function program(): Command {
  const made = new Command('skerry')
  addCommands(made)
  return made
}

/** Returns bash's completions after these words. */
function complete(...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const script = `${completionScript(program(), 'bash')}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _skerry; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
}

test('bash completes commands, subcommands and flags', () => {
  assert.deepEqual(complete('skerry', 'stat'), ['status'])
  assert.deepEqual(complete('skerry', 'image', 'im'), ['import'])
  assert.ok(complete('skerry', 'up', '--hub').includes('--hub-port'))
})

test('every shell that we name has a script, and any other is refused', () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    assert.match(completionScript(program(), shell), /reset/)
  assert.throws(() => completionScript(program(), 'tcsh'), /use bash, zsh or fish/)
})

test('every command says what it does, and every option too', () => {
  const bare: string[] = []
  const look = (command: Command, path: string): void => {
    if (command.description() === '') bare.push(path)
    for (const option of command.options)
      if (option.description === '') bare.push(`${path} ${option.flags}`)
    for (const each of command.commands) look(each, `${path} ${each.name()}`)
  }
  for (const each of program().commands) look(each, each.name())
  assert.deepEqual(
    bare.filter((path) => !/-o, --output/.test(path)),
    [],
  )
})

test('every command shows how it is used', () => {
  const bare: string[] = []
  const look = (command: Command, path: string): void => {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) })
    command.outputHelp()
    if (command.commands.length === 0 && !help.includes('Examples:')) bare.push(path)
    for (const each of command.commands) look(each, `${path} ${each.name()}`)
  }
  for (const each of program().commands) look(each, each.name())
  assert.deepEqual(bare, [])
})
