import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { engineFlags } from './engine-flags.ts'

/** Keeps 60 MB of objects and lets 400 MB pass, all of which grow old first, as those of large requests do. */
const program = `
  const kept = []
  for (let round = 0; round < 250; round += 1) {
    kept.push(Array.from({ length: 20_000 }, (_, at) => ({ name: 'n' + at, round })))
    if (kept.length > 30) kept.shift()
  }
  console.log(process.resourceUsage().maxRSS * 1_024 / 1e6)
`

test('the memory of a site stays near the amount that large requests use', async () => {
  const flags = engineFlags['site'] ?? []
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', program])
  assert.ok(Number(stdout) < 240, `${stdout.trim()} MB`)
})
