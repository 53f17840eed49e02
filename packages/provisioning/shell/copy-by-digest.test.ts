import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { fakeShell } from '../testing/fake-shell.ts'
import { copyByDigest } from './copy-by-digest.ts'

test('a pipe or a device in the place of a file of a package is refused, and never waited for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-digest-'))
  try {
    const pipe = join(directory, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const shell = fakeShell()
    const remote = { continue: async () => assert.fail('it is copied') }
    const ways = { shell, remote, signal: AbortSignal.timeout(10_000) }
    for (const from of [pipe, '/dev/zero', directory]) {
      const file = { from, sha256: '0'.repeat(64), bytes: 10 }
      await assert.rejects(
        copyByDigest([file], '/somewhere', ways),
        new RegExp(`^ShellError: Cannot read ${from}: it is not a regular file$`),
      )
    }
    assert.deepEqual(shell.commands, [])
  } finally {
    await rm(directory, { recursive: true })
  }
})
