import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { unitTexts } from './units-table.ts'

const directory = join(import.meta.dirname, '../..', 'packaging', 'systemd')

for (const [role, text] of Object.entries(unitTexts)) {
  test(`machines get the unit skerry-${role} of packaging/systemd`, async () => {
    assert.equal(text, await readFile(join(directory, `skerry-${role}.service`), 'utf8'))
  })
}
