import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  checkConsoleBudget,
  consoleBudget,
  consoleSizes,
  type BuiltPart,
} from './console-budget.ts'
import { buildConsole } from './console.ts'

test('the console is built within its budget, with compressed files and licences', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-console-'))
  try {
    const names = await buildConsole({ outputDirectory: directory, compression: 'fast' })
    const page = await readFile(join(directory, 'console/index.html'), 'utf8')
    assert.match(page, /__NONCE__/)
    const assets = [...page.matchAll(/"\/(console\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    assert.equal(assets.length, 2)
    for (const path of assets) {
      assert.ok(names.includes(path), path)
      const plain = await readFile(join(directory, path))
      assert.deepEqual(gunzipSync(await readFile(join(directory, `${path}.gz`))), plain)
      assert.ok(names.includes(`${path}.br`))
    }
    assert.match(await readFile(join(directory, 'console/notices.txt'), 'utf8'), /^react \d/m)
    const listed: unknown = JSON.parse(
      await readFile(join(directory, 'console/files.json'), 'utf8'),
    )
    assert.deepEqual(listed, names.toSorted())
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('no page of the console has a script or a style in its text, which the hub’s policy forbids', async () => {
  const page = await readFile(join(import.meta.dirname, '../../console/app/page.html'), 'utf8')
  assert.doesNotMatch(page, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/)
})

const parts: readonly BuiltPart[] = [
  {
    name: 'assets/main-A.js',
    gzipBytes: 100,
    needs: ['assets/chunk-B.js'],
    loadsLate: ['assets/page-C.js'],
  },
  { name: 'assets/style-D.css', gzipBytes: 10, needs: [], loadsLate: [] },
  { name: 'assets/chunk-B.js', gzipBytes: 20, needs: [], loadsLate: [] },
  {
    name: 'assets/page-C.js',
    gzipBytes: 40,
    needs: ['assets/chunk-B.js', 'assets/chunk-E.js'],
    loadsLate: [],
  },
  { name: 'assets/chunk-E.js', gzipBytes: 5, needs: [], loadsLate: [] },
]

test('a late part is charged for everything that the first page has not loaded', () => {
  const { firstBytes, totalBytes, lateBytes } = consoleSizes(parts, 1)
  assert.deepEqual([firstBytes, totalBytes, lateBytes.get('assets/page-C.js')], [131, 176, 45])
})

test('a console that has grown too large is not built', () => {
  checkConsoleBudget(parts, 1)
  const [main, ...others] = parts
  assert.ok(main)
  const large = [{ ...main, gzipBytes: consoleBudget.firstBytes }, ...others]
  assert.throws(() => checkConsoleBudget(large, 1), /the first page has 151 KiB, at most 150/)
})
