import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger, seededRandom, simulatedClock } from '@skerry/base'
import { untilDone } from './virtual-cluster-tasks.ts'

test('a mistake of the program is an error line with its place, and the work is tried again', async () => {
  const clock = simulatedClock()
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const log = createLogger({ level: 'info', destination })
  const faults = [new TypeError('x is undefined'), new Error('the edge is away')]
  const done = untilDone(
    async () => {
      const fault = faults.shift()
      if (fault) throw fault
    },
    { clock, random: seededRandom(1), log },
    new AbortController().signal,
  )
  for (let round = 0; round < 3; round += 1) await clock.advance(30_000)
  await done
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      ['error', 'Preparation of an edge cluster broke an invariant'],
      ['info', 'Edge cluster is not prepared yet'],
    ],
  )
  assert.match(String(lines[0]?.['stack']), /virtual-cluster-tasks\.test\.ts/)
})
