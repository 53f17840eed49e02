import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { TunnelHeaders, TunnelRequest } from '@skerry/tunnel'
import { mayDo } from './user-rights.ts'

const resource = { group: 'apps', version: 'v1', resource: 'deployments' }

/** The extra of the subject that the edge is asked about. */
async function askedExtra(headers: TunnelHeaders): Promise<unknown> {
  const asked: TunnelRequest[] = []
  const allowed = await mayDo(
    async (request) => {
      asked.push(request)
      const body = Readable.from([Buffer.from(JSON.stringify({ status: { allowed: true } }))])
      return { status: 201, headers: {}, body }
    },
    { headers, verb: 'get', resource, namespace: 'shop' },
    new AbortController().signal,
  )
  assert.equal(allowed, true)
  const [request] = asked
  assert.ok(request?.body instanceof Uint8Array)
  const review: unknown = JSON.parse(Buffer.from(request.body).toString('utf8'))
  assert.ok(typeof review === 'object' && review !== null && 'spec' in review)
  const { spec } = review
  assert.ok(typeof spec === 'object' && spec !== null && 'extra' in spec)
  return spec.extra
}

test("keys of a user's extra reach the edge as they are, also those that every object has", async () => {
  const headers = Object.fromEntries([
    ['impersonate-user', 'jane'],
    ['impersonate-extra-__proto__', 'one'],
    ['impersonate-extra-constructor', ['two', 'three']],
    ['impersonate-extra-acme.com%2fteam', 'four'],
    ['impersonate-extra-50%', 'five'],
  ])
  assert.deepEqual(
    await askedExtra(headers),
    Object.fromEntries([
      ['__proto__', ['one']],
      ['constructor', ['two', 'three']],
      ['acme.com/team', ['four']],
      ['50%', ['five']],
    ]),
  )
})
