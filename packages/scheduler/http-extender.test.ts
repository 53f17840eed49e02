import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import { test } from 'node:test'
import { simulatedClock, systemClock, type Clock } from '@skerry/base'
import { createAuthority, generateKeyPair, signCertificate } from '@skerry/pki'
import { parseSchedulerConfiguration } from './configuration.ts'
import type { Extender } from './extender.ts'
import { node, pod } from './testing/scheduling-world.ts'

const hourMs = 3_600_000

/** Starts an extender over HTTPS that scores every node it receives, and returns its authority, too. */
async function startExtender() {
  const dates = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs }
  const authority = await createAuthority({ subject: { commonName: 'extenders' }, ...dates })
  const { publicKeyPem, privateKeyPem: key } = await generateKeyPair()
  const cert = await signCertificate(authority, {
    subject: { commonName: 'extender' },
    publicKeyPem,
    ...dates,
    keyUsages: ['digitalSignature'],
    extendedUsages: ['serverAuth'],
    ipAddresses: ['127.0.0.1'],
  })
  const server = createServer({ cert, key }, (_, response) => {
    response.end(JSON.stringify([{ Host: 'a', Score: 7 }]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    urlPrefix: `https://127.0.0.1:${port}`,
    ca: authority.certificatePem,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function extenderOf(fields: object, clock: Clock = systemClock): Promise<Extender> {
  const { extenders } = await parseSchedulerConfiguration(
    {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      extenders: [{ prioritizeVerb: 'prioritize', weight: 2, ...fields }],
    },
    { clock },
  )
  const [extender] = extenders
  assert.ok(extender)
  return extender
}

const { signal } = new AbortController()

test('an extender over HTTPS is believed when its authority has signed it', async () => {
  await using server = await startExtender()
  const caData = Buffer.from(server.ca).toString('base64')
  const tlsConfig = { caData }
  const extender = await extenderOf({ urlPrefix: server.urlPrefix, enableHTTPS: true, tlsConfig })
  const scores = await extender.prioritize?.(pod({}), [node('a')], signal)
  assert.deepEqual([...(scores ?? [])], [['a', 140]])
})

test('an extender that another authority has signed is not asked', async () => {
  await using server = await startExtender()
  await using other = await startExtender()
  const tlsConfig = { caData: Buffer.from(other.ca).toString('base64') }
  const extender = await extenderOf({ urlPrefix: server.urlPrefix, enableHTTPS: true, tlsConfig })
  await assert.rejects(async () => extender.prioritize?.(pod({}), [node('a')], signal), {
    name: 'ExtenderError',
    message: /certificate/,
  })
})

test('an extender that does not answer is given up after its own time', async () => {
  const clock = simulatedClock()
  const asked = Promise.withResolvers<void>()
  const server = createPlainServer(() => asked.resolve())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const fields = { urlPrefix: `http://127.0.0.1:${port}`, httpTimeout: '30s' }
  const extender = await extenderOf(fields, clock)
  const refused = assert.rejects(async () => extender.prioritize?.(pod({}), [node('a')], signal), {
    name: 'ExtenderError',
    message: `Post "${fields.urlPrefix}/prioritize": no answer in 30000 ms`,
  })
  await asked.promise
  await clock.advance(30_000)
  await refused
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})
