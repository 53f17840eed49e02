import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesText } from './number-texts.ts'

test('bytes are written with few digits', () => {
  const table: readonly (readonly [bytes: number, text: string])[] = [
    [0, '0 B'],
    [812, '812 B'],
    [1_434, '1.4 KiB'],
    [38_797_312, '37 MiB'],
    [5e15, '4547 TiB'],
  ]
  for (const [bytes, text] of table) assert.equal(bytesText(bytes), text)
})
