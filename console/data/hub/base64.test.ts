import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBase64, toBase64 } from './base64.ts'

test('texts of any script survive base64, and are those of other programs', () => {
  for (const text of ['', 'pässwort', '密码\n', '\u{1f511}']) {
    assert.equal(toBase64(text), Buffer.from(text, 'utf8').toString('base64'))
    assert.equal(fromBase64(toBase64(text)), text)
  }
})
