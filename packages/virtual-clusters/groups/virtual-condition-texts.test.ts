import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import type { ClusterCondition } from '@skerry/fleet-kinds'
import { virtualConditionTexts } from './virtual-condition-texts.ts'

const registered: readonly ClusterCondition[] = [
  { type: 'Registered', status: 'True', reason: 'Registered', message: '', lastTransitionTime: '' },
]

test('a VirtualCluster reports that the hub refuses it, and nothing new while the hub is away', () => {
  const table: [what: string, known: readonly ClusterCondition[], error: Error, want: string[]][] =
    [
      ['revoked', registered, new StatusError('Forbidden', 'waits'), ['Ready Unknown NotTaken']],
      ['void', registered, new StatusError('Unauthorized', 'no'), ['Ready Unknown NotTaken']],
      ['away', registered, new Error('no answer in 10000 ms'), []],
      ['new, away', [], new Error('no answer'), ['Registered False NotRegistered']],
      ['not allowed', [], new StatusError('Forbidden', 'no'), ['Registered False NotAllowed']],
    ]
  for (const [what, known, error, want] of table) {
    const told = { round: { error }, howToAllow: 'allows it' }
    const texts = virtualConditionTexts(known, told)
    const said = texts.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
    assert.deepEqual(said, want, what)
    assert.ok(
      texts.every(({ message }) => message.includes(error.message)),
      what,
    )
  }
})
