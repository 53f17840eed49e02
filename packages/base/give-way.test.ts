import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveWay, ownTurn } from './give-way.ts'

test('two long loops of promises together let others in each ten milliseconds', async () => {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs }
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const steps = new Map<number, number>()
  const done = [0, 0]
  const work = async (number: number): Promise<void> => {
    for (let step = 0; step < 500; step += 1) {
      nowMs += 1
      steps.set(turn, (steps.get(turn) ?? 0) + 1)
      done[number] = step
      await giveWay(clock)
      const [one = 0, other = 0] = done
      // Neither waits for the other to end.
      assert.ok(Math.abs(one - other) <= 20, `${one} and ${other}`)
    }
  }
  await Promise.all([work(0), work(1)])
  isOver = true
  const most = Math.max(...steps.values())
  assert.ok(most <= 12, `${most} steps of a millisecond in one turn`)
})

test('if no time passes, nobody waits for a turn', () => {
  const clock = { monotonicMs: () => 7 }
  for (let step = 0; step < 1_000; step += 1) assert.equal(giveWay(clock), undefined)
})

test('while others are served, they rest for as long as they have worked', async () => {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs }
  let served = 0
  let isOver = false
  const serve = (): void => {
    served += 1
    nowMs += 1
    if (!isOver) setImmediate(serve)
  }
  setImmediate(serve)
  for (let step = 0; step < 500; step += 1) {
    nowMs += 1
    await giveWay(clock)
  }
  isOver = true
  assert.ok(served >= 450 && served <= 650, `${served} passes of a millisecond in 500 ms of steps`)
})

test('steps that are long alone each have a turn of their own', async () => {
  let nowMs = 0
  const clock = { monotonicMs: () => nowMs }
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const step = async (): Promise<void> => {
    await ownTurn(clock)
    nowMs += 100
    turns.push(turn)
  }
  await Promise.all(Array.from({ length: 8 }, step))
  isOver = true
  assert.equal(new Set(turns).size, 8, `turns ${turns.join(', ')}`)
})
