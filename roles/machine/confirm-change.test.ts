import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { confirmChange, type Decision } from './confirm-change.ts'

const change = {
  job: 'f0e1',
  name: 'default/spring',
  work: 'upgrade to 0.2.0',
  cluster: 'branch-7',
  machine: '10.0.0.11',
  scope: 'machine',
}

async function confirmed(text: string | undefined, decision: Decision): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-confirm-'))
  try {
    if (text !== undefined) await writeFile(join(directory, 'awaited-confirmation.json'), text)
    const lines: string[] = []
    await confirmChange(decision, (line) => lines.push(line), directory)
    const written = await readFile(join(directory, 'confirmation.json'), 'utf8').catch(() => '')
    return [...lines, written]
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('the change is shown, and a confirmation names its job', async () => {
  const shown = 'Job default/spring: upgrade to 0.2.0 on machine 10.0.0.11'
  assert.deepEqual(await confirmed(JSON.stringify(change), 'show'), [shown, ''])
  const [first, , written] = await confirmed(JSON.stringify(change), 'yes')
  assert.deepEqual([first, written], [shown, '{"job":"f0e1"}\n'])
  const whole = JSON.stringify({ ...change, scope: 'cluster' })
  const [line] = await confirmed(whole, async () => true)
  assert.match(line ?? '', /on cluster branch-7, its master first$/)
})

test('a person who declines, a machine where nothing waits, and an odd file confirm nothing', async () => {
  await assert.rejects(
    confirmed(JSON.stringify(change), async () => false),
    /goes on waiting/,
  )
  await assert.rejects(confirmed(undefined, 'yes'), /Nothing on this machine waits/)
  await assert.rejects(confirmed('{"job":1}', 'yes'), /not one that a hub wrote/)
  await assert.rejects(confirmed('not JSON', 'yes'), /not one that a hub wrote/)
})

test('a file cannot draw on the terminal', async () => {
  const text = JSON.stringify({ ...change, work: '\u001B[2J\nevil' })
  const [line] = await confirmed(text, 'show')
  assert.doesNotMatch(line ?? '', /\p{Cc}/u)
})
