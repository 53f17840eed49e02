import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { simulatedClock } from './simulated-clock.ts'

const clockFile = join(import.meta.dirname, 'clock.ts')

/** Starts a process that only sets a timer, and returns its output. */
function printedBy(ms: number, options: object): string {
  const program = `
    import { systemClock as clock } from ${JSON.stringify(clockFile)}
    clock.setTimer(${ms}, () => console.log('it fired'), ${JSON.stringify(options)})
  `
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
  const { status, stdout } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  assert.equal(status, 0)
  return stdout
}

test('a process waits for its timers, except for those in the background', () => {
  assert.equal(printedBy(1, {}), 'it fired\n')
  assert.equal(printedBy(10_000, { isBackground: true }), '')
})

test('a simulated clock that cannot get on says so', async () => {
  const clock = simulatedClock()
  const again = (): void => void clock.setTimer(0, again)
  again()
  await assert.rejects(clock.advance(1), /over 20000 timers at 0 ms/)
})
