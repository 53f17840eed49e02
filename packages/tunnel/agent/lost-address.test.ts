import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { endWithAddress } from './lost-address.ts'

const own = '10.1.0.5'

function scene(localAddress: string) {
  const clock = simulatedClock()
  const world: { addresses: string[]; towards: string | undefined } = {
    addresses: [own, 'fd00::5'],
    towards: own,
  }
  const socket = Object.assign(new PassThrough(), { localAddress, remoteAddress: '192.0.2.7' })
  const ended: string[] = []
  socket.on('error', ({ message }) => ended.push(message))
  endWithAddress(socket, {
    clock,
    addresses: () => new Set(world.addresses),
    towards: async (peer) => (peer === '192.0.2.7' ? world.towards : undefined),
  })
  const after = async (ms: number): Promise<readonly string[]> => {
    await clock.advance(ms)
    return ended
  }
  return { world, after, socket }
}

test('a tunnel whose machine has gone to another address ends within seconds, and says why', async () => {
  const { world, after } = scene(`::ffff:${own}`)
  assert.deepEqual(await after(60_000), [])
  Object.assign(world, { addresses: ['10.2.0.9'], towards: '10.2.0.9' })
  assert.deepEqual(await after(5_000), [
    'this machine has lost the address 10.1.0.5, and has another',
  ])
})

test('a cable that is pulled for a while ends nothing where there is no other way', async () => {
  const bridge = '10.244.1.1'
  for (const addresses of [[], [bridge]]) {
    for (const towards of [undefined, own]) {
      const { world, after } = scene(own)
      Object.assign(world, { addresses, towards })
      assert.deepEqual(await after(60_000), [])
      Object.assign(world, { addresses: [own, bridge], towards: own })
      assert.deepEqual(await after(60_000), [])
    }
  }
})

test('an address that is set again, or never was the machine’s own, ends nothing', async () => {
  const { world, after } = scene(own)
  await after(2_500)
  Object.assign(world, { addresses: ['fd00::5'], towards: 'fd00::5' })
  await after(1_600)
  Object.assign(world, { addresses: [own, 'fd00::5'], towards: own })
  assert.deepEqual(await after(60_000), [])
  const other = scene('127.0.0.1')
  Object.assign(other.world, { addresses: ['10.2.0.9'], towards: '10.2.0.9' })
  assert.deepEqual(await other.after(60_000), [])
})

test('another address next to one that is of use ends nothing, whatever the routes', async () => {
  const { world, after } = scene(own)
  Object.assign(world, { addresses: [own, '10.2.0.9'], towards: '10.2.0.9' })
  assert.deepEqual(await after(60_000), [])
})
