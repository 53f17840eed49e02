/** Tests hub and agent at the ends of a link as thin as the thinnest real ones. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { cloudAddress, createLinkNetwork } from '@skerry/testing'
import { whyNot } from './prerequisites.ts'

/**
 * A link of 64 kbit/s and 600 ms there and back, with small packets and a router that queues two seconds of
 * data.
 */
const thin = { oneWayMs: 300, bytesPerSecond: 8_000, queueMs: 2_000, mtu: 1_400 }

const noLink = existsSync('/dev/net/tun') ? false : 'needs /dev/net/tun: the link is made of it'
const skip = (await whyNot()) || noLink

test('a link of 64 kbit/s and 600 ms', { skip, timeout: 180_000 }, async (t) => {
  await using network = await createLinkNetwork(thin)
  await using processes = new Processes()
  const cloud = processes.start(network.cloud, 'thin-link-cloud.ts', [cloudAddress])
  const said = createInterface({ input: cloud.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Record<string, unknown>> => {
    const { value, done } = await said.next()
    if (done === true || value === undefined) throw new Error(`The hub ended: ${cloud.errors()}`)
    return JSON.parse(value)
  }
  const { hub, token, caHash } = await next()
  const edge = processes.start(network.edge, 'thin-link-edge.ts', [hub, token, caHash].map(String))
  await t.test('an agent registers over it, and a request is answered', async () => {
    assert.deepEqual(await next(), { did: 'get', bytes: 2 }, edge.errors())
  })
  await t.test('a watch and a session are opened over it', async () => {
    assert.deepEqual(await next(), { did: 'watch' })
    assert.deepEqual(await next(), { did: 'exec', echo: 'hello' })
  })
  await t.test('small answers and typing pass large ones', async () => {
    const { did, bytes, answersBefore, echoesBefore, linesBefore } = await next()
    assert.deepEqual([did, bytes], ['bulk', 90_000])
    assert.ok(Number(answersBefore) >= 2, `${String(answersBefore)} requests were answered`)
    assert.ok(Number(echoesBefore) >= 2, `${String(echoesBefore)} keys were echoed`)
    assert.ok(Number(linesBefore) >= 4, `${String(linesBefore)} lines of the watch came`)
  })
  await t.test('meanwhile nobody takes the link for dead', async () => {
    const { isSameTunnel, rttMs } = await next()
    assert.equal(isSameTunnel, true, edge.errors())
    assert.ok(Number(rttMs) >= 600, `${String(rttMs)} ms there and back`)
  })
})

/** Ends the processes that it started, by their ids. */
class Processes {
  readonly #started: ChildProcess[] = []

  start(place: readonly string[], script: string, args: readonly string[]) {
    const [command = process.execPath, ...rest] = place
    const own = [process.execPath, join(import.meta.dirname, script), ...args]
    const child = spawn(command, [...rest, ...own], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#started.push(child)
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    return { stdout: child.stdout, errors: () => errors }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#started) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
  }
}
