import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { seededRandom, silentLogger, simulatedClock, type Random } from '@skerry/base'
import { failOnUncaught, oddFrame, settingsFrame } from '@skerry/testing'
import { writeMessage } from './kms-messages.ts'
import { openKmsPlugin } from './kms-plugin.ts'
import { createKmsTransformer, type KmsTransformer } from './kms-transformer.ts'

/** A KMS plugin that answers oddly is unhealthy, and recovers with its next valid answer. */
const seed = 20_261_133
failOnUncaught()

let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-odd-kms-'))
})
after(() => rm(directory, { recursive: true, force: true }))

type Method = 'Status' | 'Encrypt' | 'Decrypt'

const right: Readonly<Record<Method, () => Buffer>> = {
  Status: () => writeMessage({ 1: 'v2', 2: 'ok', 3: 'one' }),
  Encrypt: () =>
    writeMessage({
      1: Buffer.alloc(32, 7),
      2: 'one',
      3: new Map([['a.example.org', Buffer.from('b')]]),
    }),
  Decrypt: () => writeMessage({ 1: Buffer.alloc(32, 7) }),
}

interface Plugin extends Disposable {
  readonly endpoint: string
  answer: (method: Method) => Buffer
}

async function startPlugin(): Promise<Plugin> {
  const same = (bytes: Buffer): Buffer => bytes
  const names: readonly Method[] = ['Status', 'Encrypt', 'Decrypt']
  const server = new Server()
  const methods = names.map((name) => [
    name,
    {
      path: `/v2.KeyManagementService/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  ])
  const implementation: UntypedServiceImplementation = Object.fromEntries(
    names.map((name) => [
      name,
      (_call: unknown, callback: (error: null, answer: Buffer) => void) =>
        callback(null, plugin.answer(name)),
    ]),
  )
  server.addService(Object.fromEntries(methods), implementation)
  const endpoint = `unix://${join(directory, 'messages.sock')}`
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    )
  })
  const plugin: Plugin = {
    endpoint,
    answer: (method) => right[method](),
    [Symbol.dispose]: () => server.forceShutdown(),
  }
  return plugin
}

function transformerOf(endpoint: string, timeoutMs: number): KmsTransformer {
  const deps = { clock: simulatedClock(), log: silentLogger }
  return createKmsTransformer('vault', openKmsPlugin(endpoint, timeoutMs), deps)
}

/** Truncates, changes or extends the message, or replaces it. */
function oddMessage(bytes: Buffer, random: Random): Buffer {
  const at = Math.floor(random.next() * (bytes.length + 1))
  const draw = random.next()
  if (draw < 0.3) return bytes.subarray(0, at)
  if (draw < 0.6) {
    const odd = Buffer.from(bytes)
    odd[Math.min(at, odd.length - 1)] = Math.floor(random.next() * 256)
    return odd
  }
  if (draw < 0.7) return Buffer.concat([bytes, Buffer.from(random.bytes(1 + at))])
  if (draw < 0.8) return Buffer.alloc(5 * 1024 * 1024, 1)
  // Nested fields with number 0.
  if (draw < 0.9) return Buffer.alloc(100_000, 2)
  return Buffer.from(random.bytes(1 + Math.floor(random.next() * 64)))
}

test(`a plugin that answers oddly is unhealthy until it answers rightly (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  using plugin = await startPlugin()
  for (let round = 0; round < 120; round += 1) {
    using transformer = transformerOf(plugin.endpoint, 20_000)
    const odd: Method = random.next() < 0.5 ? 'Status' : 'Encrypt'
    plugin.answer = (method) => {
      const bytes = right[method]()
      return method === odd ? oddMessage(bytes, random) : bytes
    }
    await transformer.look()
    if (transformer.problem() !== undefined) {
      assert.throws(
        () => transformer.seal(Buffer.from('a'), 'key'),
        /^Error: Cannot encrypt with KMS vault: /,
      )
    }
    plugin.answer = (method) => right[method]()
    await transformer.look()
    assert.equal(transformer.problem(), undefined, `round ${round}`)
    const sealed = transformer.seal(Buffer.from('secret'), 'key')
    assert.equal(Buffer.from(transformer.open(sealed, 'key')).toString(), 'secret')
  }
})

test(`odd keys open nothing, and end nothing (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  using plugin = await startPlugin()
  using writer = transformerOf(plugin.endpoint, 20_000)
  await writer.look()
  const sealed = writer.seal(Buffer.from('secret'), 'key')
  for (let round = 0; round < 60; round += 1) {
    using reader = transformerOf(plugin.endpoint, 20_000)
    plugin.answer = (method) => oddMessage(right[method](), random)
    await reader.fetch?.(sealed)
    assert.throws(() => reader.open(sealed, 'key'), { name: 'UnreadableValueError' })
  }
})

test(`frames that are not gRPC count as a plugin that does not answer (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  const path = join(directory, 'frames.sock')
  let parts: readonly Buffer[] = []
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    // The client sends the first bytes of an HTTP/2 connection.
    socket.once('data', () => {
      for (const part of parts) socket.write(part)
      if (parts.length % 2 === 0) socket.end()
    })
  })
  server.listen(path)
  await once(server, 'listening')
  for (let round = 0; round < 40; round += 1) {
    const count = 1 + Math.floor(random.next() * 6)
    const frames = Array.from({ length: count }, () => oddFrame(random))
    parts = random.next() < 0.9 ? [settingsFrame, ...frames] : [Buffer.from(random.bytes(64))]
    using transformer = transformerOf(`unix://${path}`, 60)
    await transformer.look()
    assert.notEqual(transformer.problem(), undefined, Buffer.concat(parts).toString('hex'))
  }
  server.close()
})
