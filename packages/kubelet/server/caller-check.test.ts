import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { SubjectAccessReview } from '@skerry/api'
import { systemClock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import { createCallerCheck, nodeQuestions } from './caller-check.ts'

test('a request to a node needs the right that upstream asks for', () => {
  const table: readonly [method: string, path: string, verb: string, subresources: string][] = [
    ['GET', '/metrics', 'get', 'metrics'],
    ['GET', '/metrics/resource', 'get', 'metrics'],
    ['GET', '/metricsx', 'get', 'proxy'],
    ['GET', '/stats/summary', 'get', 'stats'],
    ['GET', '/logs/', 'get', 'log'],
    ['GET', '/pods', 'get', 'pods proxy'],
    ['GET', '/runningpods/', 'get', 'pods proxy'],
    ['GET', '/healthz/syncloop', 'get', 'healthz proxy'],
    ['GET', '/configz', 'get', 'configz proxy'],
    ['GET', '/flagz', 'get', 'configz'],
    ['POST', '/checkpoint/a/b/c', 'create', 'checkpoint'],
    ['GET', '/constructor', 'get', 'proxy'],
    ['GET', '/', 'get', 'proxy'],
    ['GET', '/containerLogs/a/b/c', 'get', 'proxy'],
    ['POST', '/exec/a/b/c', 'create', 'proxy'],
    ['GET', '/exec/a/b/c', 'get', 'proxy'],
    // The right to read grants nothing else.
    ['PUT', '/exec/a/b/c', 'update', 'proxy'],
    ['DELETE', '/pods', 'delete', 'pods proxy'],
    ['PATCH', '/run/a/b/c', 'patch', 'proxy'],
    ['HEAD', '/metrics', '', 'metrics'],
    ['OPTIONS', '/exec/a/b/c', '', 'proxy'],
  ]
  for (const [method, path, verb, subresources] of table) {
    const asked = nodeQuestions({ method, path })
    assert.deepEqual([asked.verb, asked.subresources.join(' ')], [verb, subresources], path)
  }
})

test('a session with a pod of the node needs the right to create, whatever its method is', async () => {
  const asked: string[] = []
  const create = async (review: SubjectAccessReview) => {
    const { verb, subresource } = review.spec.resourceAttributes ?? {}
    asked.push(`${verb} ${subresource}`)
    return { ...review, status: { allowed: verb === 'get' } }
  }
  // The check reads a certificate and writes reviews, nothing else.
  const cluster = { resource: () => ({ create }) } as unknown as ClusterClient
  const socket = {
    authorized: true,
    getPeerCertificate: () => ({ subject: { CN: 'prometheus' } }),
  } as unknown as TLSSocket
  const callers = createCallerCheck('n1', { cluster, clock: systemClock })
  const { signal } = new AbortController()
  const path = '/exec/shop/web/app'
  for (const method of ['GET', 'PUT']) {
    const session = callers.requireAllowed(socket, { method, path, isSession: true }, signal)
    await assert.rejects(session, { code: 403 })
  }
  const logs = { method: 'GET', path: '/containerLogs/shop/web/app' }
  await callers.requireAllowed(socket, logs, signal)
  assert.deepEqual(asked, ['create proxy', 'get proxy'])
})
