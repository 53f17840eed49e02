import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { clearSocketPath } from './socket-path.ts'

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-socket-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('a file in the place of the socket is refused, and stays', async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, 'passwd')
    await writeFile(path, 'root')
    const refused = /there is something else than a socket; pass another --serve-etcd, or remove it/
    await assert.rejects(clearSocketPath(path, '--serve-etcd'), refused)
    assert.equal(await readFile(path, 'utf8'), 'root')
    await symlink(path, join(directory, 'link'))
    await assert.rejects(clearSocketPath(join(directory, 'link'), '--serve-etcd'), refused)
    await assert.rejects(clearSocketPath(directory, '--serve-etcd'), refused)
  })
})

test('a directory that is missing is named', async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, 'run', 'etcd.sock')
    await assert.rejects(clearSocketPath(path, '--serve-etcd'), /there is no directory .*run; make/)
  })
})

test('a socket at which another process serves is refused, and goes on to serve', async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, 'etcd.sock')
    const server = createServer().listen(path)
    await once(server, 'listening')
    await assert.rejects(clearSocketPath(path, '--serve-etcd'), /another process serves there/)
    assert.ok((await lstat(path)).isSocket())
    server.close()
  })
})

test('a socket of a killed process makes way, and a missing one is fine', async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, 'etcd.sock')
    const program = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['-e', program, path]), 'exit')
    assert.ok((await lstat(path)).isSocket())
    await clearSocketPath(path, '--serve-etcd')
    await assert.rejects(lstat(path), { code: 'ENOENT' })
    await clearSocketPath(path, '--serve-etcd')
  })
})
