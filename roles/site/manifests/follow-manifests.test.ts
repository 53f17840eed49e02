import assert from 'node:assert/strict'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import { startTestApiServer, until } from '@skerry/testing'
import { followManifests } from './follow-manifests.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

interface Scene {
  readonly directory: string
  readonly cluster: ClusterClient
  readonly put: (name: string, text: string) => Promise<void>
  /** Follows the directory as a master until `act` has ended. */
  readonly follow: (act: () => Promise<void>, master?: string) => Promise<void>
  readonly get: (name: string) => Promise<ConfigMap | undefined>
  /** Resolves with the data of the list of a file once its state is this. */
  readonly state: (file: string, state: string) => Promise<Readonly<Record<string, string>>>
}

async function inScene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-manifests-'))
  try {
    await using server = await startTestApiServer()
    const log = silentLogger
    const cluster = createCluster(server.transport, { clock: systemClock, log, userAgent: 'test' })
    const maps = cluster.resource(resources.configMaps)
    const deps = { cluster, clock: systemClock, random: systemRandom, log }
    await play({
      directory,
      cluster,
      put: (name, text) => writeFile(join(directory, name), text, { mode: 0o600 }),
      async follow(act, master = 'a') {
        const stop = linkedSignal(soon())
        const running = followManifests({ directory, master, lookMs: 40 }, deps, stop.signal)
        const ended = running.catch((error: unknown) => {
          if (!stop.signal.aborted) throw error
        })
        try {
          await Promise.race([act(), running])
        } finally {
          stop.abort(new Error('the test is over'))
          await ended
        }
      },
      get: (name) => ifThere(maps.get({ namespace: 'default', name }, soon())),
      async state(file, state) {
        return until(async () => {
          const { items } = await maps.list({ namespace: 'kube-system' }, soon())
          const found = items.find(({ data }) => data?.['file'] === file)
          return found?.data?.['state'] === state ? found.data : undefined
        })
      },
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const map = (name: string, value = '1'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`

test('objects of files come, change, and go with their files, also while nobody follows', async () => {
  await inScene(async ({ directory, put, follow, get, state }) => {
    await put('one.yaml', `${map('a')}---\n${map('b')}`)
    await put('two.yml', map('c'))
    await put('notes.txt', map('d'))
    await follow(async () => {
      await state('one.yaml', 'Applied')
      await state('two.yml', 'Applied')
      assert.equal(await get('d'), undefined)
      await put('one.yaml', map('a', '2'))
      await until(async () => (await get('b')) === undefined)
      assert.equal((await get('a'))?.data?.['value'], '2')
    })
    await rm(join(directory, 'two.yml'))
    await follow(async () => {
      await until(async () => (await get('c')) === undefined)
      assert.ok(await get('a'))
    })
  })
})

test('an object that moves to another file is never away', async () => {
  await inScene(async ({ cluster, directory, put, follow, get, state }) => {
    await put('b.yaml', `${map('moves')}---\n${map('stays')}`)
    await follow(async () => {
      await state('b.yaml', 'Applied')
      const uid = (await get('moves'))?.metadata.uid
      await put('b.yaml', map('stays', '2'))
      await put('a.yaml', map('moves', '2'))
      await state('a.yaml', 'Applied')
      await until(async () => (await get('stays'))?.data?.['value'] === '2')
      assert.equal((await get('moves'))?.metadata.uid, uid)
      await rename(join(directory, 'a.yaml'), join(directory, 'c.yaml'))
      await state('c.yaml', 'Applied')
      const maps = cluster.resource(resources.configMaps)
      await until(async () => {
        const { items } = await maps.list({ namespace: 'kube-system' }, soon())
        return items.every(({ data }) => data?.['file'] !== 'a.yaml')
      })
      assert.equal((await get('moves'))?.metadata.uid, uid)
    })
  })
})

test('a file that cannot be applied says why, keeps its objects, and holds up no other', async () => {
  await inScene(async ({ directory, put, follow, get, state }) => {
    await put('a.yaml', map('a'))
    await follow(async () => {
      await state('a.yaml', 'Applied')
      await put('a.yaml', 'apiVersion: v1\nkind: [')
      await put('b.yaml', map('b'))
      const { message } = await state('a.yaml', 'Failed')
      assert.match(message ?? '', /a\.yaml, document 1/)
      await state('b.yaml', 'Applied')
      assert.ok(await get('a'))
      await put('open.yaml', map('open'))
      await chmod(join(directory, 'open.yaml'), 0o666)
      assert.match((await state('open.yaml', 'Failed'))['message'] ?? '', /others .* may write it/)
      assert.equal(await get('open'), undefined)
      await put(
        'chart.yaml',
        'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: a}\n',
      )
      await put('a.yaml', map('a', '3'))
      await state('a.yaml', 'Applied')
      assert.equal((await get('a'))?.data?.['value'], '3')
    })
  })
})

test('a file is left alone while its .skip is there', async () => {
  await inScene(async ({ directory, put, follow, get, state }) => {
    await put('a.yaml', map('a'))
    await put('b.yaml', map('b'))
    await put('b.yaml.skip', '')
    await follow(async () => {
      await state('a.yaml', 'Applied')
      assert.equal(await get('b'), undefined)
      await put('a.yaml.skip', '')
      await put('a.yaml', map('a', '2'))
      await rm(join(directory, 'b.yaml.skip'))
      await state('b.yaml', 'Applied')
      assert.equal((await get('a'))?.data?.['value'], '1')
    })
  })
})

test('a master leaves the objects of a file that only another one had', async () => {
  await inScene(async ({ directory, put, follow, get, state }) => {
    await put('a.yaml', map('a'))
    await follow(async () => void (await state('a.yaml', 'Applied')))
    await rm(join(directory, 'a.yaml'))
    await put('b.yaml', map('b'))
    await follow(async () => void (await state('b.yaml', 'Applied')), 'b')
    assert.ok(await get('a'))
    await follow(async () => {
      await until(async () => (await get('a')) === undefined)
    })
  })
})
