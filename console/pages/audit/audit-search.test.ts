import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  auditPath,
  fieldOfTime,
  readFilter,
  shownUri,
  timeOfField,
  withOlder,
  type AuditEvent,
} from './audit-search.ts'

test('only the filters that are set are asked for, and times with their zone', () => {
  assert.equal(
    auditPath(readFilter({}), 100),
    '/hub/v1/audit?limit=100&without=selfsubjectaccessreviews',
  )
  const filter = readFilter({
    user: ' olga ',
    verb: 'delete',
    since: '2026-11-28T10:00',
    until: 'x',
    reviews: 'shown',
  })
  const query = new URLSearchParams(auditPath(filter, 50).split('?')[1])
  assert.deepEqual(Object.fromEntries(query), {
    limit: '50',
    user: 'olga',
    verb: 'delete',
    since: new Date('2026-11-28T10:00').toISOString(),
  })
  const cut = '2026-11-28T11:00:00.000Z'
  const next = new URLSearchParams(auditPath({ ...filter, until: '2026-11-28T12:00' }, 50, cut))
  assert.equal(next.get('until'), cut)
})

test('a link to a search means the same moment in every zone', () => {
  const typed = '2026-07-04T16:40'
  const inAddress = timeOfField(typed)
  assert.equal(inAddress, new Date(2026, 6, 4, 16, 40).toISOString())
  assert.equal(fieldOfTime(inAddress), typed)
  const { since } = readFilter({ since: '2026-07-04T14:40:00.000Z' })
  const query = new URLSearchParams(auditPath(readFilter({ since }), 1).split('?')[1])
  assert.equal(query.get('since'), '2026-07-04T14:40:00.000Z')
  assert.deepEqual([timeOfField(''), fieldOfTime(''), fieldOfTime('x')], ['', '', ''])
})

test('lines of the moment of a cut are not there twice', () => {
  const event = (auditID: string): AuditEvent => ({ auditID, time: '', method: 'GET', uri: '/' })
  assert.deepEqual(
    withOlder([event('3'), event('2')], [event('2'), event('1')]).map((each) => each.auditID),
    ['3', '2', '1'],
  )
})

test('the path of a request to a cluster does not repeat its name', () => {
  const event = { time: '', method: 'GET', uri: '/clusters/reef/api/v1/pods' }
  assert.equal(shownUri({ ...event, cluster: 'reef' }), '/api/v1/pods')
  assert.equal(shownUri({ ...event, cluster: 're' }), event.uri)
  assert.equal(shownUri(event), event.uri)
})
