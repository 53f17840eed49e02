import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExpectedError, exitCodes } from '@skerry/base'
import { until } from '@skerry/testing'
import { lockHolder, takeLock } from './lock-file.ts'

async function scratchLock(context: {
  after: (clean: () => Promise<void>) => void
}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-lock-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  return join(directory, 'up.pid')
}

const refusal = (holder: number): ExpectedError =>
  new ExpectedError(`Cannot start: already running as process ${holder}`, exitCodes.alreadyRunning)

const statOf = (pid: number): Promise<string[]> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then((text) =>
    text.slice(text.lastIndexOf(')') + 2).split(' '),
  )

test('a lock is refused while its process lives, and free when it is given back', async (context) => {
  const path = await scratchLock(context)
  {
    await using _lock = await takeLock(path, refusal)
    assert.equal(await lockHolder(path), process.pid)
    await assert.rejects(takeLock(path, refusal), (error) => {
      assert.ok(error instanceof ExpectedError)
      assert.match(error.message, new RegExp(`already running as process ${process.pid}`))
      return true
    })
  }
  assert.equal(await lockHolder(path), undefined)
})

test('a lock whose process was killed is free, also while nobody has reaped it', async (context) => {
  const path = await scratchLock(context)
  // The shell becomes a sleep, which never asks after its child. Only then may the child end: a
  // shell that is still one may reap it.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  context.after(() => void parent.kill('SIGKILL'))
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(String(line))
  const { pid: parentPid } = parent
  assert.ok(parentPid !== undefined)
  await until(async () => (await readFile(`/proc/${parentPid}/comm`, 'utf8')) === 'sleep\n')
  process.kill(pid, 'SIGKILL')
  await until(async () => (await statOf(pid))[0] === 'Z')
  const fields = await statOf(pid)
  await writeFile(path, JSON.stringify({ pid, startTicks: fields[19] }))
  assert.equal(await lockHolder(path), undefined)
})

test('a lock of another process with the same number, or torn, is free', async (context) => {
  const path = await scratchLock(context)
  for (const text of [`{"pid":${process.pid},"startTicks":"1"}`, '{"pid":12', '']) {
    await writeFile(path, text)
    assert.equal(await lockHolder(path), undefined, text)
  }
})
