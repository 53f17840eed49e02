import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Pod } from '@skerry/api'
import { silentLogger, simulatedClock } from '@skerry/base'
import { createCluster, type Transport } from '@skerry/client'
import { ObjectDisk } from './object-disk.ts'
import { TokenSource } from './token-source.ts'

const yearMs = 365 * 86_400_000

test('a token from a clock that was two years ahead is replaced when the clock is right again', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-tokens-'))
  context.after(() => rm(directory, { recursive: true }))
  const clock = simulatedClock()
  let issued = 0
  const transport: Transport = {
    async send() {
      issued += 1
      const status = {
        token: `token-${issued}`,
        expirationTimestamp: new Date(clock.now() + 3_600_000).toISOString(),
      }
      const answer = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', status }
      const bytes = Buffer.from(JSON.stringify(answer))
      const body = (async function* () {
        yield bytes
      })()
      return { status: 201, headers: { 'content-type': 'application/json' }, body }
    },
  }
  const log = silentLogger
  const cluster = createCluster(transport, { clock, log, userAgent: 'test' })
  const disk = new ObjectDisk(directory, log)
  const tokens = new TokenSource({ cluster, clock, log, disk })
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name: 'web', uid: '1' },
    spec: { containers: [] },
  }
  const signal = new AbortController().signal
  const next = async (): Promise<string> => {
    return (await tokens.token({ pod, audience: '', expirationSeconds: 3_600 }, signal)).token
  }
  clock.jump(2 * yearMs)
  assert.deepEqual([await next(), await next()], ['token-1', 'token-1'])
  clock.jump(-2 * yearMs)
  assert.deepEqual([await next(), await next()], ['token-2', 'token-2'])
  await disk.flush()
})
