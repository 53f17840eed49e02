import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { exitCodes } from '@skerry/base'
import { mountSmallDisk } from '@skerry/testing'
import { openAdminCluster } from '../admin/admin-cluster.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces', isNamespaced: false }
const skip = process.getuid?.() === 0 ? false : 'needs root'
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

function skerry(args: readonly string[]) {
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const flags = ['--disable-warning=ExperimentalWarning', program, ...args]
  const child = spawn(process.execPath, flags, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  assert.ok(child.stdout && child.stderr)
  const output = text(child.stdout)
  const errors = text(child.stderr)
  const ended = once(child, 'exit')
  return {
    /** Resolves when it serves. */
    async ready(): Promise<void> {
      const failed = ended.then(async () => {
        throw new Error(`It ended: ${await errors}`)
      })
      await Promise.race([once(child, 'message', { signal: soon() }), failed])
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
    async result(): Promise<{ code: unknown; output: string; lines: readonly string[] }> {
      const [code] = await ended
      const all = (await errors).split('\n').filter((line) => line !== '')
      return { code, output: await output, lines: all.filter((line) => !line.startsWith('{')) }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await this.kill()
    },
  }
}

/** A port that stays the same over restarts, so that the administrator's file does. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  assert.ok(address !== null && typeof address === 'object')
  return String(address.port)
}

const isOneLine = (lines: readonly string[], path: string): void => {
  assert.equal(lines.length, 1, lines.join('\n'))
  const [line = ''] = lines
  assert.ok(line.startsWith('skerry: Cannot ') && line.includes(path), line)
  assert.match(line, /: no space, or no quota, is left on the disk; free some/)
}

for (const { role, starts, title } of [
  {
    role: 'site',
    starts: 2,
    title:
      'a site that was killed starts again on a full disk, or says in one line what it cannot write',
  },
  {
    role: 'hub',
    starts: 1,
    title:
      'a hub that was killed starts again on a full disk, or says in one line what it cannot write',
  },
]) {
  test(title, { skip }, async () => {
    await using disk = await mountSmallDisk(60)
    const directory = join(disk.path, role)
    const port = await freePort()
    const place = ['--data-dir', directory, '--bind-address', '127.0.0.1', '--port', port]
    const start = () => skerry([role, '--log-level', 'error', ...place])
    // A site's second start finishes what its controllers had no time for: aggregated roles.
    for (let times = 0; times < starts; times += 1) {
      await using first = start()
      await first.ready()
      await first.kill()
    }
    await disk.fill()
    {
      await using again = start()
      await again.ready()
      const { cluster } = await openAdminCluster(join(directory, 'admin.kubeconfig'))
      const { items } = await cluster.resource(namespaces).list({}, soon())
      assert.ok(items.some(({ metadata }) => metadata.name === 'kube-system'))
      const target = join(disk.path, 'backup.db')
      await using backup = skerry(['backup', target, '--data-dir', directory])
      const { code, lines } = await backup.result()
      assert.equal(code, exitCodes.diskFull, lines.join('\n'))
      isOneLine(lines, target)
      assert.ok((await readdir(disk.path)).every((name) => !name.startsWith('backup.db')))
      await again.kill()
    }
    const adminFile = join(directory, 'admin.kubeconfig')
    await chmod(adminFile, 0o644)
    await using last = start()
    const { code, lines } = await last.result()
    assert.equal(code, exitCodes.diskFull, lines.join('\n'))
    isOneLine(lines, adminFile)
    if (role === 'hub') return
    // The objects that name a site's port have no place either.
    await using moved = skerry([role, ...place.slice(0, -1), await freePort()])
    const refused = await moved.result()
    assert.equal(refused.code, exitCodes.diskFull)
    isOneLine(refused.lines, '')
  })
}

test(
  'restoring onto a full disk is refused in one line with the path, and leaves the old store',
  { skip },
  async () => {
    const outside = await mkdtemp(join(tmpdir(), 'skerry-full-disk-'))
    try {
      await using disk = await mountSmallDisk(40)
      const directory = join(disk.path, 'site')
      const backup = join(outside, 'site.db')
      const place = ['--data-dir', directory, '--bind-address', '127.0.0.1', '--port', '0']
      {
        await using site = skerry(['site', '--log-level', 'error', ...place])
        await site.ready()
        const { code } = await skerry(['backup', backup, '--data-dir', directory]).result()
        assert.equal(code, 0)
        await site.kill()
      }
      await disk.fill()
      const before = await readFile(join(directory, 'store.db'))
      for (const name of ['site', 'other']) {
        const target = join(disk.path, name)
        const { code, lines } = await skerry(['restore', backup, '--data-dir', target]).result()
        assert.equal(code, exitCodes.diskFull, lines.join('\n'))
        isOneLine(lines, join(target, 'store.db'))
      }
      assert.deepEqual(await readFile(join(directory, 'store.db')), before)
    } finally {
      await rm(outside, { recursive: true, force: true })
    }
  },
)
