import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRoleSocket, requestBackup, requestRenewal, type RoleRequests } from './role-socket.ts'

async function scratch(context: { after: (clean: () => Promise<void>) => void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-backup-'))
  context.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

function refusing(why: string): RoleRequests {
  const refuse = () => Promise.reject(new Error(why))
  return { backup: refuse, renewCertificates: refuse }
}

test('a backup is requested, made, and answered with its description', async (context) => {
  const directory = await scratch(context)
  const path = join(directory, 'backup.sock')
  const source = {
    ...refusing('nothing else is asked'),
    async backup(target: string) {
      await writeFile(target, 'whole')
      return { bytes: 5, revision: 42 }
    },
  }
  await using _socket = await openRoleSocket(path, source)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const target = join(directory, 'copy.db')
  assert.deepEqual(await requestBackup(path, target), { bytes: 5, revision: 42 })
  assert.equal(await readFile(target, 'utf8'), 'whole')
})

test('the reason for a missing backup comes back unchanged', async (context) => {
  const directory = await scratch(context)
  const path = join(directory, 'backup.sock')
  const refusal = 'Cannot back up to /x: the file exists; choose another name'
  await using _socket = await openRoleSocket(path, refusing(refusal))
  await assert.rejects(requestBackup(path, '/x'), { message: refusal, exitCode: 1 })
  await assert.rejects(requestBackup(path, 'relative'), { message: /not an absolute path/ })
})

test('a message says if nobody listens', async (context) => {
  const path = join(await scratch(context), 'backup.sock')
  await assert.rejects(requestBackup(path, '/x'), { message: /nothing answers at/, exitCode: 9 })
})

test('a renewal is answered when it is done, or with the reason for its failure, and not if nobody listens', async (context) => {
  const path = join(await scratch(context), 'backup.sock')
  assert.equal(await requestRenewal(path), false)
  let renewals = 0
  {
    await using _socket = await openRoleSocket(path, {
      ...refusing('nothing else is asked'),
      renewCertificates: async () => void (renewals += 1),
    })
    assert.equal(await requestRenewal(path), true)
    assert.equal(renewals, 1)
  }
  const refusal = 'Cannot issue certificate admin: its authority ended'
  await using _socket = await openRoleSocket(path, refusing(refusal))
  await assert.rejects(requestRenewal(path), { message: refusal })
})
