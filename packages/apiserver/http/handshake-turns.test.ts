import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { HandshakeTurns, type Turn } from './handshake-turns.ts'

const limits = {
  handshakesMax: 4,
  handshakesAtOnceMax: 100,
  quickHandshakeMs: 2_000,
  waitingHandshakesMax: 6,
  handshakeWaitMs: 9_000,
}

function scene(overrides: Partial<typeof limits> = {}) {
  const clock = simulatedClock()
  const passes: (() => void)[] = []
  const nextPass = (call: () => void): void => void passes.push(call)
  const deps = { clock, log: silentLogger, nextPass }
  const turns = new HandshakeTurns({ ...limits, ...overrides }, deps)
  const begun: string[] = []
  const dropped: string[] = []
  const open = new Map<string, Turn>()
  const arrive = (name: string, address = name): void => {
    const isPatient = name.startsWith('agent')
    const arrival = {
      address,
      isPatient,
      begin: () => begun.push(name),
      drop: () => dropped.push(name),
    }
    open.set(name, turns.arrive(arrival))
  }
  const pass = (): void => passes.shift()?.()
  const settle = (): void => {
    while (passes.length > 0) pass()
  }
  const end = (name: string): void => {
    open.get(name)?.end()
    settle()
  }
  const comes = (name: string, address = name): void => {
    arrive(name, address)
    settle()
  }
  const advance = async (ms: number): Promise<void> => {
    await clock.advance(ms)
    settle()
  }
  const passIn = async (ms: number): Promise<void> => {
    await clock.advance(ms)
    pass()
  }
  return { advance, passIn, begun, dropped, arrive, comes, end, pass }
}

test('a limited number of handshakes run at once; then the newest is next', () => {
  const { begun, dropped, comes, end } = scene()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) comes(name)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  end('b')
  end('b')
  assert.deepEqual(begun.slice(4), ['g'])
  comes('user')
  end('a')
  assert.deepEqual(begun.slice(5), ['user'])
  for (const name of ['c', 'd']) end(name)
  assert.deepEqual(begun.slice(6), ['f', 'e'])
  assert.deepEqual(dropped, [])
})

test('many connections at once are accepted first; then a few begin in one pass', () => {
  const { begun, arrive, pass } = scene({ handshakesMax: 100, handshakesAtOnceMax: 2 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    arrive(name)
    pass()
  }
  assert.deepEqual(begun, [])
  pass()
  assert.deepEqual(begun, ['e', 'd'])
  pass()
  assert.deepEqual(begun.slice(2), ['c', 'b'])
  pass()
  assert.deepEqual(begun.slice(4), ['a'])
})

test('some handshakes begin, however many connections keep coming', () => {
  const { begun, arrive, pass } = scene({ handshakesMax: 100, handshakesAtOnceMax: 1 })
  for (let number = 0; number < 70; number += 1) {
    arrive(`agent-${number}`)
    pass()
  }
  assert.deepEqual(begun, ['agent-32', 'agent-65'])
})

test('if passes are long and each brings a newcomer, nobody waits for many of them', async () => {
  const { begun, dropped, arrive, end, passIn } = scene({
    handshakesMax: 100,
    handshakesAtOnceMax: 2,
    waitingHandshakesMax: 100,
  })
  for (let number = 0; number < 100; number += 1) {
    for (const name of ['a', 'b', 'c']) arrive(`${name}-${number}`)
    await passIn(100)
    for (const name of begun) end(name)
    const waiting = (number + 1) * 3 - begun.length
    assert.ok(waiting <= 6, `${waiting} wait after ${number}`)
  }
  assert.deepEqual(dropped, [])
})

test('one waiter too many costs the oldest its turn; slow handshakes make room', async () => {
  const { advance, begun, dropped, comes, end } = scene()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) comes(name)
  assert.deepEqual(dropped, ['e'], 'six wait, and the seventh has no place')
  await advance(2_000)
  assert.deepEqual(begun.slice(4), ['k', 'j', 'i', 'h'])
  comes('late')
  end('late')
  end('late')
  await advance(2_000)
  assert.deepEqual(begun.slice(8), ['g', 'f'])
  assert.deepEqual(dropped, ['e'])
})

test('a connection that waits in vain is closed in time to try again', async () => {
  const { advance, begun, dropped, comes, end } = scene({ quickHandshakeMs: 20_000 })
  for (const name of ['a', 'b', 'c', 'd', 'early']) comes(name)
  await advance(5_000)
  comes('later')
  await advance(3_999)
  assert.deepEqual(dropped, [])
  await advance(1)
  assert.deepEqual(dropped, ['early'])
  end('a')
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'later'])
  comes('last')
  await advance(9_000)
  assert.deepEqual(dropped, ['early', 'last'])
})

test('an address that floods has half of the places, and the others go on', async () => {
  const { advance, begun, dropped, comes, end } = scene()
  for (let number = 0; number < 4; number += 1) comes(`flood-${number}`, 'flood')
  assert.deepEqual(begun, ['flood-0', 'flood-1'])
  comes('one')
  comes('two')
  assert.deepEqual(begun.slice(2), ['one', 'two'])
  comes('three')
  comes('flood-4', 'flood')
  end('one')
  assert.deepEqual(begun.slice(4), ['three'])
  // Their handshakes never end: each counts for two seconds, and then the next begins.
  await advance(2_000)
  assert.deepEqual(begun.slice(5), ['flood-4', 'flood-3'])
  comes('four')
  assert.equal(begun.at(-1), 'four')
  assert.deepEqual(dropped, [])
})

test('agents announce that they are patient: however many come, a client in a hurry is next', () => {
  const { begun, dropped, comes, end } = scene({ handshakesMax: 8, waitingHandshakesMax: 7 })
  for (let number = 0; number < 9; number += 1) comes(`agent-${number}`)
  assert.deepEqual(begun, ['agent-0', 'agent-1', 'agent-2'], 'five places are left to others')
  comes('user')
  assert.deepEqual(begun.slice(3), ['user'], 'at once')
  for (const name of ['p', 'q', 'r', 's', 'late-user']) comes(name)
  assert.deepEqual(begun.slice(4), ['p', 'q', 'r', 's'])
  comes('agent-9')
  assert.deepEqual(dropped, ['agent-3'], 'seven wait, and a patient one goes')
  end('agent-0')
  assert.deepEqual(begun.slice(8), ['late-user'], 'before agents that came later')
  for (const name of ['agent-1', 'user', 'p', 'q']) end(name)
  assert.deepEqual(begun.slice(9), ['agent-9', 'agent-8'])
})
