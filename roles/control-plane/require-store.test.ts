import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { goOnPastUnreadable } from '@skerry/apiserver'
import { exitCodes, silentLogger, type ExpectedError, type Logger } from '@skerry/base'
import { administrator, callApi } from '@skerry/testing'
import { startAndStop, startTestControlPlane } from '../../testing/scenes/test-control-plane.ts'
import { ensureClusterInfo } from '../hub/registration/ensure-cluster-info.ts'
import { publishApiEndpoints } from '../site/objects/api-endpoints.ts'
import { ensureSiteObjects } from '../site/objects/site-objects.ts'

test('a store whose pages are overwritten is refused in one line with the remedy', async () => {
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

test('keys without their store are refused with the remedy, and an empty cluster begins only on request', async () => {
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

const siteAddresses = {
  apiServiceIp: '10.43.0.1',
  serviceCidr: '10.43.0.0/16',
  dnsServiceIp: '10.43.0.10',
  port: 6443,
}

/** Starts what a site and a hub have, and returns which objects the log names. */
async function startWhole(directory: string, advertiseAddress: string) {
  const named = new Set<string>()
  const error: Logger['error'] = (_message, { object } = {}) => {
    if (typeof object === 'string') named.add(object)
  }
  const log = { ...silentLogger, error }
  const plane = await startTestControlPlane(directory, { log })
  await ensureSiteObjects(plane.objects, siteAddresses, log)
  const master = { address: advertiseAddress, port: 6443 }
  await goOnPastUnreadable(log, () => publishApiEndpoints(plane.objects, [master]))
  await goOnPastUnreadable(log, () => ensureClusterInfo(plane))
  return { plane, named }
}

async function damage(path: string, text: string, other: string): Promise<void> {
  const bytes = await readFile(path)
  let times = 0
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    bytes.write(other, at)
    times += 1
  }
  assert.ok(times > 0)
  await writeFile(path, bytes)
}

test('a start continues past objects that cannot be read, names them, and they can be deleted unread', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-flipped-start-'))
  const path = join(directory, 'store.db')
  try {
    await (await startWhole(directory, '192.0.2.1')).plane[Symbol.asyncDispose]()
    const whole = await readFile(path)
    // A cluster's address changed: objects of both namespaces are written at the start.
    for (const namespace of ['default', 'kube-system']) {
      const label = 'kubernetes.io/metadata.name":"'
      await damage(path, `${label}${namespace}`, `${label}D`)
      const { plane, named } = await startWhole(directory, '192.0.2.2')
      await using _plane = plane
      assert.deepEqual([...named], [`namespaces "${namespace}"`])
      const call = (method: 'POST' | 'DELETE', path: string, body?: unknown) =>
        callApi(plane.server.transport(administrator), { method, path, body })
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any' } }
      const refused = await call('POST', `/api/v1/namespaces/${namespace}/configmaps`, map)
      assert.equal(refused.status, 500)
      assert.match(JSON.stringify(refused.body), /stored data is damaged/)
      const ignoring = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'
      const gone = await call('DELETE', `/api/v1/namespaces/${namespace}?${ignoring}`)
      assert.equal(gone.status, 200)
      await plane[Symbol.asyncDispose]()
      const next = await startWhole(directory, '192.0.2.2')
      assert.deepEqual([...next.named], [], 'the next start makes it again')
      await next.plane[Symbol.asyncDispose]()
      await writeFile(path, whole)
    }
    await damage(path, '"uid":"', '"uiD":"')
    const { plane, named } = await startWhole(directory, '192.0.2.3')
    await using _plane = plane
    const object = 'configmaps "extension-apiserver-authentication"'
    assert.ok(named.has(object) || named.has('namespaces "kube-system"'), [...named].join())
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
