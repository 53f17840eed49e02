import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { builtinKinds } from '../builtin-kinds.ts'
import type { Kind, AnyObject } from '@skerry/api'
import { tableOf, type TableColumnDefinition, type TableRowCondition } from './table.ts'

/** One row that dev/hack/generate-api/record-tables.ts recorded from an upstream server. */
interface RecordedRow {
  group: string
  version: string
  kind: string
  nowMs: number
  columns: Omit<TableColumnDefinition, 'description'>[]
  cells: (string | number | boolean | null)[]
  conditions?: TableRowCondition[]
  object: AnyObject
}

// The file is written from values of this type.
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/tables.json'), 'utf8'),
) as RecordedRow[]

async function kindOfRow(row: RecordedRow): Promise<Kind> {
  const kinds = await builtinKinds()
  const kind = kinds.find(
    (one) => one.group === row.group && one.version === row.version && one.kind === row.kind,
  )
  assert.ok(kind, `${row.group}/${row.version} ${row.kind} is built in`)
  return kind
}

test('every built-in kind has the columns of upstream, in its order', async () => {
  for (const row of recorded) {
    const kind = await kindOfRow(row)
    const table = tableOf({ kind, objects: [], nowMs: 0, metadata: {} })
    const columns = table.columnDefinitions?.map(({ name, type, format, priority }) => ({
      name,
      type,
      format,
      priority,
    }))
    assert.deepEqual(columns, row.columns, `${row.group} ${row.kind}`)
  }
})

test('the cells of a row read as upstream prints the same object', async () => {
  for (const row of recorded) {
    const kind = await kindOfRow(row)
    const input = { kind, objects: [row.object], metadata: {} }
    // The server's Date has whole seconds; the row was created some time within that second.
    const tables = [0, 999].map((ms) => tableOf({ ...input, nowMs: row.nowMs + ms }))
    const actual = tables[0]?.rows[0]?.cells.map((cell, index) =>
      cell === row.cells[index] ? cell : tables[1]?.rows[0]?.cells[index],
    )
    assert.deepEqual(actual, row.cells, `${row.group} ${row.kind} ${row.object.metadata.name}`)
    assert.deepEqual(tables[0]?.rows[0]?.conditions, row.conditions)
  }
})

test('a table carries as much of each object as requested, and headers only once', async () => {
  const [row] = recorded
  assert.ok(row)
  const input = {
    kind: await kindOfRow(row),
    objects: [row.object],
    nowMs: row.nowMs,
    metadata: { resourceVersion: '7' },
  }
  const metadataOnly = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: row.object.metadata,
  }
  assert.deepEqual(tableOf(input).rows[0]?.object, metadataOnly)
  const managedFields = [{ manager: 'kubectl', operation: 'Update' as const }]
  const managed = { ...row.object, metadata: { ...row.object.metadata, managedFields } }
  const omitting = { ...input, objects: [managed], omitsManagedFields: true }
  assert.deepEqual(tableOf(omitting).rows[0]?.object, metadataOnly)
  assert.equal(tableOf({ ...input, includeObject: 'None' }).rows[0]?.object, null)
  assert.equal(tableOf({ ...input, includeObject: 'Object' }).rows[0]?.object, row.object)
  assert.equal(tableOf({ ...input, hasHeaders: false }).columnDefinitions, null)
  assert.deepEqual(tableOf(input).metadata, { resourceVersion: '7' })
})
