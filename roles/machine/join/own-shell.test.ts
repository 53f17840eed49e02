import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ShellError } from '@skerry/provisioning'
import { ownShell } from './own-shell.ts'

const shell = ownShell()

const isFault = (fault: string) => (error: unknown) =>
  error instanceof ShellError && error.fault === fault

test('a command ends with its exit code, and a program that is missing with 127', async () => {
  assert.equal((await shell.run(['true'])).exitCode, 0)
  assert.equal((await shell.run(['false'])).exitCode, 1)
  assert.equal((await shell.run(['no-such-program'])).exitCode, 127)
})

test('words and standard input arrive as they are, and no shell reads them', async () => {
  const words = ['two words', '$(id) `id`', '--help', '', 'ü\u{1f600}']
  const { stdout } = await shell.run(['printf', '[%s]', ...words])
  assert.equal(stdout, words.map((word) => `[${word}]`).join(''))
  const input = `${'x'.repeat(200_000)}\n$(id)`
  assert.equal((await shell.run(['cat'], { input })).stdout, input)
  assert.equal((await shell.run(['cat'])).stdout, '')
})

test('a command that prints or lasts without an end is ended, and so is one that is called off', async () => {
  await assert.rejects(shell.run(['yes']), isFault('misbehaves'))
  await assert.rejects(shell.run(['sleep', '100000'], { timeoutMs: 100 }), isFault('misbehaves'))
  const stop = new AbortController()
  const reason = new Error('called off')
  const endless = shell.run(['sleep', '100000'], { signal: stop.signal })
  stop.abort(reason)
  await assert.rejects(endless, reason)
})

test('a file is written whole with its permissions, or refused without a trace', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-own-shell-'))
  try {
    const path = join(directory, 'new', 'token')
    await shell.write(path, 'secret', 0o600)
    assert.equal(await readFile(path, 'utf8'), 'secret')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await assert.rejects(shell.write(join(path, 'below'), 'x', 0o644), isFault('file'))
    assert.deepEqual(await readdir(join(directory, 'new')), ['token'])
  } finally {
    await rm(directory, { recursive: true })
  }
})
