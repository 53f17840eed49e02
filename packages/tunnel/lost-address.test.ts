import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import { endWithAddress } from './lost-address.ts'

const own = '10.1.0.5'

function scene(localAddress: string) {
  const clock = simulatedClock()
  const world = { addresses: [own, 'fd00::5'] }
  const socket = Object.assign(new PassThrough(), { localAddress })
  const ended: string[] = []
  socket.on('error', ({ message }) => ended.push(message))
  endWithAddress(socket, { clock, addresses: () => new Set(world.addresses) })
  const after = async (ms: number): Promise<readonly string[]> => {
    await clock.advance(ms)
    return ended
  }
  return { world, after, socket }
}

test('a tunnel whose machine has gone to another address ends within seconds, and says why', async () => {
  const { world, after } = scene(`::ffff:${own}`)
  assert.deepEqual(await after(60_000), [])
  world.addresses = ['10.2.0.9']
  assert.deepEqual(await after(5_000), [
    'this machine has lost the address 10.1.0.5, and has another',
  ])
})

test('a cable that is pulled for a while ends nothing where there is no other way', async () => {
  const { world, after } = scene(own)
  world.addresses = []
  assert.deepEqual(await after(60_000), [])
  world.addresses = [own]
  assert.deepEqual(await after(60_000), [])
})

test('an address that is set anew, or never was the machine’s own, ends nothing', async () => {
  const { world, after } = scene(own)
  await after(2_500)
  world.addresses = ['fd00::5']
  await after(1_600)
  world.addresses = [own, 'fd00::5']
  assert.deepEqual(await after(60_000), [])
  const other = scene('127.0.0.1')
  other.world.addresses = ['10.2.0.9']
  assert.deepEqual(await other.after(60_000), [])
})
