import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@skerry/testing'
import { createProgress } from './progress.ts'

function recorder(isTerminal: boolean): {
  written: string[]
  output: Parameters<typeof createProgress>[0]
} {
  const written: string[] = []
  return { written, output: { write: (text) => void written.push(text), isTerminal, columns: 40 } }
}

test('away from a terminal each step is one plain line with its time', async () => {
  const { written, output } = recorder(false)
  const result = await createProgress(output).step('Hub', async (tell) => {
    tell('https://127.0.0.1:7443')
    return 7
  })
  assert.equal(result, 7)
  assert.equal(written.length, 1)
  assert.match(written[0] ?? '', /^✔ Hub: https:\/\/127\.0\.0\.1:7443 \(\d+\.\d s\)\n$/)
})

test('a step that fails is marked, and its error goes on', async () => {
  const { written, output } = recorder(false)
  const failed = createProgress(output).step('Site', () => Promise.reject(new Error('no')))
  await assert.rejects(failed, /no/)
  assert.match(written[0] ?? '', /^✖ Site/)
})

test('redrawn output never wraps on a terminal', async () => {
  const { written, output } = recorder(true)
  await createProgress(output).step('Node', async (tell) => {
    tell('x'.repeat(200))
    await until(() => written.length >= 2)
  })
  const drawn = written.slice(0, -1).map((text) => text.slice('\r\u001B[2K'.length))
  assert.ok(drawn.length > 0 && drawn.every((text) => text.length < 40))
})
