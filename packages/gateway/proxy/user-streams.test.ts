import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import {
  parseRequestInfo,
  type AuthorizedRequest,
  type ApiRequest,
  type Route,
} from '@skerry/apiserver'
import { limitUserStreams, UserStreams } from './user-streams.ts'

function isRefused(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isStatusError(error, 'TooManyRequests'), String(error))
    assert.match(error.message, words)
    return error.toStatus().details?.retryAfterSeconds === 1
  }
}

test('one user holds a limited number of requests to a cluster and to all, and others are unaffected', () => {
  const streams = new UserStreams({ perCluster: 2, inAll: 3 })
  const first = streams.take('mallory', 'oslo')
  streams.take('mallory', 'oslo')
  assert.throws(
    () => streams.take('mallory', 'oslo'),
    isRefused(/"mallory" has 2 requests to it open/),
  )
  streams.take('mallory', 'rome')
  assert.throws(() => streams.take('mallory', 'rome'), isRefused(/has 3 requests to clusters open/))
  streams.take('olga', 'oslo')
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  streams.take('mallory', 'oslo')
  assert.throws(() => streams.take('mallory', 'oslo'), isRefused(/"oslo"/))
})

test('a hundred thousand requests of one user leave nothing behind when they are over', () => {
  const streams = new UserStreams()
  let refused = 0
  const open: Disposable[] = []
  for (let number = 0; number < 100_000; number += 1) {
    try {
      open.push(streams.take('mallory', `edge-${number % 1_000}`))
    } catch {
      // The refusals are counted; the test below expects their number.
      refused += 1
    }
  }
  assert.deepEqual([open.length, refused], [20_000, 80_000])
  for (const one of open) one[Symbol.dispose]()
  for (let number = 0; number < 500; number += 1) streams.take('mallory', 'edge-1')
})

test('a request whose client left before it was admitted holds no place', async () => {
  const route: Route = {
    prefix: '/',
    serve: async () => ({ status: 200, headers: {}, body: new Uint8Array(0) }),
  }
  const [limited] = limitUserStreams([route], new UserStreams({ perCluster: 1, inAll: 1 }))
  const gone = AbortSignal.abort(new Error('the client left'))
  for (let number = 0; number < 3; number += 1) {
    const answer = await limited?.serve(admittedAs('mallory', '/clusters/oslo/version', gone))
    assert.equal(answer?.status, 200)
  }
})

function admittedAs(name: string, target: string, signal: AbortSignal): AuthorizedRequest {
  const user = { name, groups: [], extra: {} }
  const request: ApiRequest = {
    method: 'GET',
    target,
    headers: {},
    fields: () => [],
    body: (async function* () {})(),
    peer: { type: 'process', user },
    signal,
  }
  return {
    request,
    info: parseRequestInfo('GET', target),
    user,
    authorizer: { authorize: async () => ({ verdict: 'allow', reason: '' }) },
    auditId: '',
    warn: () => undefined,
    requireVerb: async () => undefined,
    mayGoOn: async () => undefined,
    signal,
  }
}
