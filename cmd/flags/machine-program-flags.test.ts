import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { ExpectedError, exitCodes } from '@skerry/base'
import {
  machineProgramsOf,
  withMachinePrograms,
  type MachineProgramFlags,
} from './machine-program-flags.ts'

function flagsOf(...words: string[]): MachineProgramFlags {
  const command = withMachinePrograms(new Command()).exitOverride()
  command.configureOutput({ writeErr: () => undefined })
  return command.parse(words, { from: 'user' }).opts<MachineProgramFlags>()
}

test('programs for machines are read by architecture, and must be files', async () => {
  const program = process.execPath
  const both = ['--machine-program', `x86_64=${program}`, '--machine-program', `aarch64=${program}`]
  assert.deepEqual(await machineProgramsOf(flagsOf(...both)), {
    x86_64: [program],
    aarch64: [program],
  })
  const { x86_64: two } = await machineProgramsOf(flagsOf(...both, ...both))
  assert.deepEqual(two, [program, program])
  assert.deepEqual(await machineProgramsOf(flagsOf()), {})
  const directory = flagsOf('--machine-program', `aarch64=${import.meta.dirname}`)
  await assert.rejects(machineProgramsOf(directory), (error: unknown) => {
    assert.ok(error instanceof ExpectedError)
    assert.equal(error.exitCode, exitCodes.usage)
    assert.match(error.message, /aarch64=.*: it is not a file/)
    return true
  })
  assert.throws(() => flagsOf('--machine-program', `arm=${program}`), /x86_64=<path>/)
})
