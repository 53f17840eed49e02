import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestClass, type RequestClass } from './request-class.ts'

const cases: readonly [method: string, path: string, isUpgrade: boolean, expected: RequestClass][] =
  [
    ['GET', '/version', false, 'read'],
    ['HEAD', '/api/v1/pods?watch=1', false, 'watch'],
    ['GET', '/api/v1/pods?limit=5&watch=true', false, 'watch'],
    ['GET', '/api/v1/pods?watch=false', false, 'read'],
    ['GET', '/api/v1/pods?watch=0', false, 'read'],
    ['GET', '/api/v1/namespaces/a/pods/b/log?follow=true', false, 'watch'],
    ['GET', '/api/v1/namespaces/a/pods/b/log', false, 'read'],
    ['POST', '/api/v1/pods', false, 'write'],
    ['DELETE', '/api/v1/namespaces/a/pods/b?watch=true', false, 'write'],
    ['POST', '/api/v1/namespaces/a/pods/b/exec', true, 'session'],
    ['GET', '/api/v1/namespaces/a/pods/b/exec', true, 'session'],
  ]

for (const [method, path, isUpgrade, expected] of cases) {
  test(`${isUpgrade ? 'upgrade by ' : ''}${method} ${path} is a ${expected}`, () => {
    assert.equal(requestClass({ method, path, headers: {} }, isUpgrade), expected)
  })
}
