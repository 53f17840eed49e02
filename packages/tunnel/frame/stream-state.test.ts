import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { receivingTable, sendingTable } from './stream-state.ts'

const page = new URL('../../../docs/tunnel-protocol.md', import.meta.url)

/** The rows of the table whose first column has this title: a state, and the states that its last column names. */
function documented(title: string): Record<string, string[]> {
  const text = readFileSync(page, 'utf8')
  const [, table = ''] = text.split(`\n| ${title} | Meaning | Next state |\n|---|---|---|\n`)
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? []
  return Object.fromEntries(
    rows.map((row) => {
      const [, state = '', , next = ''] = row.split('|')
      return [state.replaceAll(/[` ]/g, ''), names(next)]
    }),
  )
}

function names(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).toSorted()
}

/** Lists the states that follow each state, except the state itself. */
function followers(table: Readonly<Record<string, object>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(table).map(([state, events]) => {
      const next = new Set<string>(Object.values(events))
      next.delete(state)
      return [state, [...next].toSorted()]
    }),
  )
}

test('the page of the protocol names the states of a stream and the steps between them', () => {
  assert.deepEqual(documented('Receiving'), followers(receivingTable))
  assert.deepEqual(documented('Sending'), followers(sendingTable))
})
