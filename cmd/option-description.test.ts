import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { addCommands } from './command-table.ts'

function helpTexts(command: Command): string[] {
  return [command.helpInformation(), ...command.commands.flatMap((each) => helpTexts(each))]
}

test('help texts show defaults as a person types them', () => {
  const program = new Command('skerry')
  addCommands(program)
  const texts = helpTexts(program)
  const defaults = texts.flatMap((text) =>
    [...text.replaceAll(/\s+/g, ' ').matchAll(/\(default: ([^)]*)\)/g)].map(
      ([, each = '']) => each,
    ),
  )
  assert.deepEqual(
    defaults.filter((each) => /^(?:["[{]|\d{6,}$|true$|false$|$)/.test(each)),
    [],
  )
  assert.ok(defaults.includes('12h') && defaults.includes('2 GiB') && defaults.includes('6443'))
})
