import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, systemRandom } from '@skerry/base'
import { takeFileTurn } from './file-turn.ts'

const deps = { clock: systemClock, random: systemRandom }
/** The dependencies of a process that gives up instead of waiting. */
const impatient = {
  ...deps,
  clock: { ...systemClock, sleep: () => Promise.reject(new Error('it has to wait')) },
}
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** A process that takes the turn, reports it, and stays until it is killed. */
const holder = `
  import { systemClock, systemRandom } from '@skerry/base'
  import { takeFileTurn } from ${JSON.stringify(join(import.meta.dirname, 'file-turn.ts'))}
  const never = new AbortController().signal
  globalThis.turn = await takeFileTurn(process.argv.at(-1), { clock: systemClock, random: systemRandom }, never)
  process.stdout.write('has it')
  process.stdin.resume()
`

test('one process at a time has the turn, and a killed one no longer has it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-turn-'))
  const path = join(directory, 'inner', 'turn')
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', holder, path]
  const child = spawn(process.execPath, flags, {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    await once(child.stdout, 'data')
    await assert.rejects(takeFileTurn(path, impatient, soon()), /has to wait/)
    const waiting = takeFileTurn(path, deps, soon())
    child.kill('SIGKILL')
    {
      using _turn = await waiting
      await assert.rejects(takeFileTurn(path, impatient, soon()), /has to wait/)
    }
    using _again = await takeFileTurn(path, deps, soon())
  } finally {
    child.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true })
  }
})
