import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoPair, whyNoStep, versionInLauncher } from './program-on-machine.ts'
import { jobFiles } from './job-files.ts'

const steps: readonly [from: string, to: string, isAllowed: boolean][] = [
  ['0.1.0-aaaaaaaaaaaa', '0.1.0-bbbbbbbbbbbb', true],
  ['0.1.3', '0.1.1', true],
  ['0.1.0', '0.2.5', true],
  ['0.1.0', '0.3.0', false],
  ['0.2.0', '0.1.9', false],
  ['0.9.0', '1.0.0', false],
]
for (const [from, to, isAllowed] of steps) {
  test(`a machine may ${isAllowed ? '' : 'not '}go from ${from} to ${to}`, () => {
    assert.equal(whyNoStep(from, to) === undefined, isAllowed)
  })
}

const pairs: readonly [node: string, master: string, isAllowed: boolean][] = [
  ['0.1.0-aaaaaaaaaaaa', '0.1.0-bbbbbbbbbbbb', true],
  ['0.1.9', '0.2.0', true],
  ['0.2.1', '0.2.0', false],
  ['0.3.0', '0.2.9', false],
  ['0.1.0', '0.3.0', false],
  ['1.0.0', '2.0.0', false],
]
for (const [node, master, isAllowed] of pairs) {
  test(`a node of ${node} may ${isAllowed ? '' : 'not '}have a master of ${master}`, () => {
    assert.equal(whyNoPair(node, master) === undefined, isAllowed)
  })
}

test('the version of a launcher is read, and nothing else is taken for one', () => {
  const launcher = 'exec /usr/local/lib/skerry/node-26 /usr/local/lib/skerry/0.1.0-0a1b/skerry.mjs'
  assert.equal(versionInLauncher(launcher), '0.1.0-0a1b')
  assert.equal(versionInLauncher('exec /usr/local/lib/skerry/../../bin/sh'), undefined)
  assert.equal(versionInLauncher('#!/bin/sh\nexec sh\n'), undefined)
})

test('a job with an odd uid names no file', () => {
  const metadata = { name: 'job', uid: '../../etc' }
  const job = { apiVersion: '', kind: 'EdgeJob', metadata, spec: { clusters: {} } }
  assert.throws(() => jobFiles({ job, confirmed: [] }), /odd uid/)
})
