import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, silentLogger, simulatedClock } from '@skerry/base'
import { MachineAddress } from './machine-address.ts'

test('an address is followed to another one, and stays while the machine has it or none', async () => {
  const clock = simulatedClock()
  using stop = linkedSignal(new AbortController().signal)
  let present: string[] = []
  const address = new MachineAddress(undefined, { clock, log: silentLogger }, () => present)
  const fixed = new MachineAddress('192.0.2.9', { clock, log: silentLogger }, () => present)
  const heard: string[] = []
  using _changes = address.onChange((next) => heard.push(next))
  using _none = fixed.onChange((next) => heard.push(`fixed ${next}`))
  const running = Promise.allSettled([address.run(stop.signal), fixed.run(stop.signal)])
  const table: [present: string[], current: string][] = [
    [[], '127.0.0.1'],
    [['10.0.0.5'], '10.0.0.5'],
    [['10.9.9.9', '10.0.0.5'], '10.0.0.5'],
    [[], '10.0.0.5'],
    [['192.168.7.3', '10.9.9.9'], '192.168.7.3'],
  ]
  for (const [now, current] of table) {
    present = now
    await clock.advance(10_000)
    assert.equal(address.current, current, now.join())
  }
  assert.equal(fixed.current, '192.0.2.9')
  assert.deepEqual(heard, ['10.0.0.5', '192.168.7.3'])
  stop.abort(new Error('over'))
  await running
})
