import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadTurns } from './read-turns.ts'

test('each pass reads as many bytes as it may, oldest first, however many bodies arrive', async () => {
  const passes: (() => void)[] = []
  const turns = new ReadTurns({ bytesPerPass: 100, nextPass: (call) => void passes.push(call) })
  const read: string[] = []
  const take = (name: string, bytes: number): void => {
    const more = turns.take(bytes)
    if (more === undefined) read.push(name)
    else void more.then(() => read.push(name))
  }
  const pass = async (): Promise<void> => {
    passes.shift()?.()
    await Promise.resolve()
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) take(name, 60)
  assert.deepEqual(read, ['a', 'b'])
  await pass()
  assert.deepEqual(read, ['a', 'b', 'c', 'd'])
  await pass()
  assert.deepEqual(read, ['a', 'b', 'c', 'd', 'e'])
  await pass()
  assert.equal(passes.length, 0)
})
