import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { exitCodes, type ExpectedError } from '@skerry/base'
import { administrator, callApi } from '@skerry/testing'
import { startAndStop, startTestControlPlane } from './test-control-plane.ts'

test('a store whose pages are overwritten is refused in one line with what to do', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-bad-store-'))
  const path = join(directory, 'store.db')
  try {
    await startAndStop(directory)
    const bytes = await readFile(path)
    const half = 4_096 * Math.floor(bytes.length / 8_192)
    for (let at = half; at < bytes.length; at += 4_096) bytes.fill(0xa5, at, at + 64)
    await writeFile(path, bytes)
    await assert.rejects(
      startTestControlPlane(directory),
      ({ exitCode, message }: ExpectedError) => {
        assert.match(message, /^Cannot start: .*store\.db is damaged; .*skerry restore/)
        return exitCode === exitCodes.dataDirectory
      },
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('keys without their store are refused with what to do, and an empty cluster is only begun when asked', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-no-store-'))
  const path = join(directory, 'store.db')
  try {
    await startAndStop(directory)
    const refused =
      (what: string) =>
      ({ exitCode, message }: ExpectedError): boolean =>
        exitCode === exitCodes.dataDirectory &&
        message.startsWith(`Cannot start: ${path} is ${what}, `) &&
        /skerry restore .*--new-store/.test(message)
    await rm(path)
    await assert.rejects(startTestControlPlane(directory), refused('missing'))
    await assert.rejects(stat(path), { code: 'ENOENT' }, 'nothing takes its place')
    await writeFile(path, '')
    await assert.rejects(startTestControlPlane(directory), refused('empty'))
    assert.equal((await readFile(path)).length, 0)
    await startAndStop(directory, { newStore: true })
    await startAndStop(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('a flipped bit in an object costs that object, by name, and no other', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-flipped-bit-'))
  const path = join(directory, 'store.db')
  const maps = { group: '', resource: 'configmaps' }
  const read = (plane: Awaited<ReturnType<typeof startTestControlPlane>>, name: string) =>
    plane.objects.update(maps, { namespace: 'default', name }, () => false)
  try {
    {
      await using plane = await startTestControlPlane(directory)
      for (const name of ['whole', 'flipped']) {
        const metadata = { name, namespace: 'default' }
        const data = { text: `the text of ${name}` }
        await plane.objects.create(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
      }
    }
    const bytes = await readFile(path)
    const text = 'the text of flipped'
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
      bytes[at] = 'T'.charCodeAt(0)
    }
    await writeFile(path, bytes)
    await using plane = await startTestControlPlane(directory)
    assert.deepEqual((await read(plane, 'whole'))['data'], { text: 'the text of whole' })
    await assert.rejects(read(plane, 'flipped'), /the stored data is damaged/)
    const call = (method: 'GET' | 'DELETE', name: string) =>
      callApi(plane.server.transport(administrator), {
        method,
        path: `/api/v1/namespaces/default/configmaps${name}`,
      })
    assert.equal((await call('GET', '')).status, 500)
    assert.equal((await call('DELETE', '/flipped')).status, 500)
    const ignoring = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
    assert.equal((await call('DELETE', `/flipped?${ignoring}`)).status, 200)
    assert.equal((await call('GET', '')).status, 200)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
