import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '@skerry/base'
import { readAuditQuery } from './audit-query.ts'
import { searchAudit } from './search-audit.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skerry-audit-'))
})
after(() => rm(directory, { recursive: true }))

const noon = Date.parse('2026-01-31T12:00:00Z')
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** A line that ended this many seconds after noon. */
function line(second: number, more: object = {}): string {
  const time = new Date(noon + second * 1_000).toISOString()
  const entry = { time, auditID: String(second), user: 'olga', method: 'GET', uri: '/api', ms: 0 }
  return `${JSON.stringify({ ...entry, ...more })}\n`
}

async function search(path: string, text: string) {
  const { lines, cutMs } = await searchAudit(
    path,
    readAuditQuery(new URLSearchParams(text)),
    systemClock,
    soon(),
  )
  const ids = lines.map((each) => (JSON.parse(each) as { auditID: string }).auditID)
  return { ids, cut: cutMs === undefined ? undefined : (cutMs - noon) / 1_000 }
}

test('lines are found by user, cluster, verb, resource and time, the newest first', async () => {
  const path = join(directory, 'filters.log')
  const pods = '/clusters/shop-7/api/v1/namespaces/a/pods?watch=0'
  await writeFile(`${path}.1`, line(0) + line(1, { user: 'rita' }))
  await writeFile(
    path,
    '{"lostRecords":7}\nnot JSON\n' +
      line(2, { cluster: 'shop-7', uri: pods }) +
      line(-60, { auditID: 'long', ms: 63_000, method: 'DELETE', uri: '/api/v1/nodes/a%2' }) +
      line(4, { user: 'a"b', uri: '/apis/apps/v1/deployments', method: 'POST' }) +
      line(5).slice(0, 40),
  )
  const table: readonly [string, string[]][] = [
    ['', ['4', 'long', '2', '1', '0']],
    ['user=rita', ['1']],
    ['user=a%22b', ['4']],
    ['user=rit', []],
    ['cluster=shop-7', ['2']],
    ['verb=list', ['2']],
    ['verb=POST', ['4']],
    ['verb=create&resource=deployments', ['4']],
    ['resource=pods', ['2']],
    ['without=pods', ['4', 'long', '1', '0']],
    ['without=deployments&verb=create', []],
    ['since=2026-01-31T12:00:02Z&until=2026-01-31T12:00:03Z', ['long', '2']],
    ['since=2026-01-31T13:00:00%2B01:00&limit=9', ['4', 'long', '2', '1', '0']],
  ]
  for (const [text, ids] of table) assert.deepEqual((await search(path, text)).ids, ids, text)
  const cut = await search(path, 'limit=2')
  assert.deepEqual(cut, { ids: ['4', 'long'], cut: 3 })
  assert.deepEqual((await search(join(directory, 'none.log'), '')).ids, [])
})

test('a long log is read in pieces, whatever its lines are', async () => {
  const path = join(directory, 'long.log')
  const wide = Array.from({ length: 3_000 }, (_, at) => line(at, { more: 'é'.repeat(at % 700) }))
  const huge = line(3_000, { more: 'x'.repeat(900_000) })
  await writeFile(path, [...wide, huge, line(3_001)].join(''))
  const ids: string[] = []
  let until = ''
  for (;;) {
    const found = await search(path, `limit=1000${until}`)
    ids.push(...found.ids.filter((id) => !ids.includes(id)))
    if (found.cut === undefined) break
    until = `&until=${new Date(noon + found.cut * 1_000).toISOString()}`
  }
  const wanted = Array.from({ length: 3_002 }, (_, at) => String(3_001 - at))
  assert.deepEqual(
    ids,
    wanted.filter((id) => id !== '3000'),
  )
})

const hostile = [
  'limit=0',
  'limit=1001',
  'limit=1e2',
  'limit=-1',
  'since=yesterday',
  'until=2026-13-40T00:00:00Z',
  'file=/etc/passwd',
  'user=a&user=b',
  `user=${'x'.repeat(600)}`,
]
test('a query that is not valid is refused, rather than answered without its filter', () => {
  for (const text of hostile) {
    assert.throws(
      () => readAuditQuery(new URLSearchParams(text)),
      /Cannot read the audit log/,
      text,
    )
  }
})
