import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** The ways on which a text becomes something else in a browser. */
const ways = [
  /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|srcdoc/i,
  /document\.write|createContextualFragment|DOMParser|\beval\(|new Function\b|javascript:/,
  /<(?:img|iframe|object|embed|script|base)\s+(?:[a-z]|\/>)|<form [^>]*action=|<a [^>]*target=/,
  /href=\{`(?!\/|\$\{(?:page|base|differences)\})/,
]

test('no text of others can become markup, a script or an address elsewhere: pages have no way for it', async () => {
  let files = 0
  for await (const file of glob('**/*.{ts,tsx}', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue
    files += 1
    const source = await readFile(join(root, file), 'utf8')
    for (const way of ways) assert.doesNotMatch(source, way, file)
  }
  assert.ok(files > 200, `${files} sources`)
})
