import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { silentLogger, simulatedClock, type Logger } from '@skerry/base'
import { dialTunnel } from '@skerry/tunnel'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { createClockCheck } from './clock-check.ts'

const dayMs = 86_400_000
const yearMs = 365 * dayMs
const never = new AbortController().signal

/** Starts a hub whose clock, and so its certificate, is in another year. */
async function startHubOf(hubMs: number) {
  const dates = { notBeforeMs: hubMs - dayMs, notAfterMs: hubMs + dayMs }
  const authority = await createAuthority({ subject: { commonName: 'hub' }, ...dates })
  const { publicKeyPem, privateKeyPem: key } = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'hub' },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    ipAddresses: ['127.0.0.1'],
  })
  const seen: unknown[] = []
  const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false })
  server.on('request', ({ headers, socket }, response) => {
    seen.push(headers['authorization'], 'getPeerX509Certificate' in socket)
    response.setHeader('date', new Date(hubMs).toUTCString())
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    ca: authority.certificatePem,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Records the log lines on which a person must act. */
function recording(): { log: Logger; lines: [string, Record<string, unknown>][] } {
  const lines: [string, Record<string, unknown>][] = []
  const error: Logger['error'] = (message, fields = {}) => void lines.push([message, { ...fields }])
  return { log: { ...silentLogger, error }, lines }
}

const hubs: readonly [name: string, offMs: number, words: string | undefined][] = [
  [
    'the log says by how much a clock is a year ahead of the hub',
    -yearMs,
    'this machine is 365 days ahead of the hub',
  ],
  [
    'the log says by how much a clock is a year behind the hub',
    yearMs,
    'this machine is 365 days behind the hub',
  ],
  [
    'the log says by how much a clock is some hours off',
    5_400_000,
    'this machine is 90 minutes behind the hub',
  ],
  ['a clock that is two minutes off is nobody’s matter', 120_000, undefined],
]
for (const [name, offMs, words] of hubs) {
  test(name, async () => {
    const nowMs = Date.now()
    await using hub = await startHubOf(nowMs + offMs)
    const clock = { ...simulatedClock(nowMs), now: () => nowMs }
    if (Math.abs(offMs) > dayMs) {
      const options = { url: hub.url.replace('https', 'wss'), tls: { ca: hub.ca } }
      const unasked = () => Promise.reject(new Error('It must not be asked'))
      const dialing = dialTunnel(
        options,
        { onRequest: unasked, onUpgrade: unasked },
        { clock, log: silentLogger },
        never,
      )
      await assert.rejects(dialing, /certificate (has expired|is not yet valid)/)
    }
    const { log, lines } = recording()
    const check = createClockCheck('hub', { clock, log })
    await check.look(hub.url, never)
    await check.look(hub.url, never)
    assert.deepEqual(
      lines.map(([message, { difference }]) => [message, difference]),
      words === undefined ? [] : [['Clocks differ: set the one that is wrong', words]],
    )
    // The hub was asked once, and without credentials.
    assert.deepEqual(hub.seen, [undefined, true])
  })
}

test('a hub that is away has no clock to differ from', async () => {
  const { log, lines } = recording()
  const check = createClockCheck('hub', { clock: simulatedClock(), log })
  await check.look('https://127.0.0.1:1', never)
  assert.deepEqual(lines, [])
})
